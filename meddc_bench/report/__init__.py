"""The report of a run: one file to read, print and take figures from.

page       what a report is made of: words in two languages, tables, figures, sections
figures    what each kind of figure shows
measures   a stored run -> numbers of each task
card       what a task is: its cases counted, its protocol, the adapters
words      what the program's own names are called in Chinese and English
content    numbers -> sections
charts     figures -> charts (Altair, vl-convert), as SVG and PNG
plots      what each chart is made of; scatter and its labels apart
drawing    what all charts share: words, data, colours
svg        only what draws is let into the page
render     sections -> HTML and Markdown
"""
