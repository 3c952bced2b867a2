"""What the lexical judge knows: names of diagnoses, needs of questions, and how to compare them."""
