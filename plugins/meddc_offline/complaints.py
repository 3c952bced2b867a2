"""What to ask for which complaint: the pattern that recognises it, then its questions, most telling first.

A question stands as `inquiry type|question`; `[女]` marks one for women only, `{it}` the complaint.
"""

TABLE = r"""
[胸痛]胸口?.{0,6}(疼|痛|闷|憋|压|难受)|心口.{0,4}(疼|痛|闷|堵)|心前区
onset|{it}是什么时候、怎么开始的？ site|具体在胸口哪个位置，会往胳膊、后背或下巴串吗？
character|是怎么个难受法，压着、烧着还是像针扎？ course|每次发作持续多长时间，多久一次？
modifying|什么情况下会加重，歇一歇或者含药能缓解吗？ trigger|发作的时候在做什么，有什么诱因吗？
associated|有没有出冷汗、恶心想吐？ associated|有没有气短、喘不上气？ associated|心慌不慌，有没有头晕、眼前发黑？
past|以前有没有高血压、糖尿病、血脂高？ associated|有没有咳嗽、发烧？ personal|抽烟喝酒吗？
prior_care|做过心电图或者别的检查吗，结果怎么样？ associated|有没有反酸、烧心？ associated|腿有没有肿或者疼？
family|家里人有没有心脏方面的病？
[心慌]心慌|心悸|心跳|心里(发)?慌
onset|心慌是突然来的还是慢慢来的，第一次是什么时候？ course|每次持续多久，多长时间发作一次？
trigger|发作前有什么诱因吗，比如喝茶、熬夜、生气？ modifying|发作的时候怎么做能停下来？
character|跳得齐不齐，是快还是漏跳的感觉？ associated|发作时有没有胸闷、胸痛？
associated|有没有头晕、眼前发黑或者晕倒过？ associated|有没有怕热、多汗、手抖？ general|最近体重和胃口有没有变化？
associated|有没有气短、腿肿？ past|以前心脏、血压、甲状腺有没有毛病？ medication|平时在吃什么药？
prior_care|发作时做过心电图吗，结果怎么样？ associated|最近感冒发烧过吗？
[呼吸困难]喘|气短|憋气|憋得|上不来气|气不够|呼吸困难|胸闷气
onset|喘是什么时候、怎么开始的，突然还是慢慢的？ severity|走多远、上几层楼会喘，影响平时生活吗？
modifying|晚上能平躺吗，什么姿势舒服一点？ trigger|什么情况下容易喘起来，跟受凉、劳累、气味有关系吗？
associated|有没有咳嗽、咳痰，痰是什么颜色？ associated|胸口疼不疼，跟深吸气有关系吗？ associated|两条腿有没有肿、疼？
course|一天里什么时候重，夜里会憋醒吗？ associated|有没有发烧？ associated|痰里带过血吗？
associated|喘的时候有没有听到嘶嘶的声音？ past|以前心肺方面有什么毛病？ personal|抽烟吗，干什么工作的，接触粉尘吗？
past|最近有没有做过手术、骨折或者长时间躺着不动？ prior_care|去医院看过吗，做了什么检查，用了什么药？
family|家里人有没有哮喘或者过敏的？
[咳嗽]咳|痰
onset|咳嗽是什么时候开始的，怎么起的？ character|咳出来有痰吗，痰是什么颜色、多不多？
course|一天里什么时候咳得厉害，夜里会咳醒吗？ associated|有没有发烧，最高多少度？
trigger|什么情况下容易咳，比如冷空气、油烟、说话？ associated|痰里有没有带血？ associated|有没有胸痛、气短？
associated|有没有喘、嗓子里嘶嘶响？ associated|有没有鼻塞、流鼻涕、打喷嚏？ associated|夜里出汗多不多？
general|最近体重和胃口有没有变化？ associated|有没有反酸、烧心？ personal|周围有没有人得过肺结核或者一样咳嗽？
personal|抽烟吗，做什么工作？ prior_care|拍过片子吗，吃过什么药，管用吗？ past|以前有没有哮喘、鼻炎、肺上的毛病？
allergy|有没有对什么过敏？
[发热]发烧|发热|高烧|低烧|烧到|体温|烧了|度多?不退|寒战|打摆子
severity|最高烧到多少度，吃退烧药能退吗？ course|体温是一直高还是一阵一阵的，一天里什么时候高？
onset|发烧是什么时候开始的，怎么起的？ associated|烧之前有没有怕冷、打寒战？ associated|身上有没有起皮疹、红点？
associated|有没有咳嗽、嗓子疼？ associated|有没有头疼、浑身酸疼？ associated|有没有关节肿痛？
associated|有没有恶心呕吐、拉肚子？ associated|小便疼不疼，腰疼不疼？ associated|脖子或别处有没有摸到疙瘩、淋巴结？
personal|最近去过外地、山里或者草丛吗？ personal|有没有接触过牛羊、老鼠，或者被虫子叮过？
personal|身边有没有人得一样的病？ associated|出汗多不多，烧退了人怎么样？ prior_care|去医院化验过吗，用过什么药？
general|精神、吃饭怎么样，体重掉了吗？ development|预防针按时打了吗？
[腹痛](肚子|腹|胃|肚脐|小肚子|心窝|右上腹|上腹|下腹|小腹).{0,8}(疼|痛|胀|不舒服|难受|绞|堵)|肚疼|胃(疼|痛|胀)|饱胀|烧心|反酸|泛酸
site|疼在肚子哪个位置，会往后背、肩膀或者别处串吗？ onset|是怎么疼起来的，突然还是慢慢的？
character|是怎么个疼法，胀着、绞着还是烧着？ course|一直疼还是一阵一阵的，后来位置有没有变？
modifying|吃东西、空腹或者换姿势，疼会加重还是减轻？ trigger|发病前吃了什么，喝酒了吗？
associated|有没有恶心呕吐，吐的是什么？ associated|有没有发烧、怕冷？ general|大便怎么样，几天一次，什么样子？
obstetric|[女]月经怎么样，末次月经是哪天？ associated|大便发黑或者带血吗？ associated|眼睛、皮肤发黄吗，小便颜色深吗？
associated|有没有反酸、烧心、打嗝？ associated|小便疼不疼，有没有血？ general|最近体重和饭量有什么变化？
past|以前有没有过类似的疼，得过胃病、胆结石吗？ associated|[女]白带有没有异常，下面出血吗？
medication|最近吃过止痛药之类的吗？ prior_care|去医院看过吗，做过什么检查？ associated|肚子胀不胀，还放屁吗？
family|家里人有没有得过胃肠方面的病？
[吐泻]拉肚子|腹泻|拉稀|呕|吐|恶心|稀(便|水)|水样
course|一天拉几次、吐几次，是越来越多还是少了？ character|拉的是什么样子，稀水、黏液还是带血？
trigger|发病前吃过什么不干净或者生冷的东西吗？ associated|肚子疼不疼，疼在哪里？ associated|有没有发烧？
onset|什么时候、怎么开始的？ severity|小便少不少，口干不干，人有没有劲？
character|吐的是什么，有没有发黄发绿或者咖啡色？ personal|一起吃饭的人或身边有没有人一样？
associated|拉完以后肚子疼能缓解吗，有没有总想拉的感觉？ general|最近体重有没有下降？ associated|有没有头疼、头晕？
obstetric|[女]末次月经什么时候，有没有可能怀孕？ prior_care|化验过大便吗，用过什么药？ past|以前肠胃有没有毛病？
medication|最近吃过抗生素或别的药吗？
[便血]便血|大便.{0,6}(血|黑)|黑便|吐血|呕血|拉血|肛门|屁股|屁眼|擦.{0,4}血|柏油
character|血是什么颜色，跟大便混在一起还是滴在表面？ severity|每次血量多少，多久一次？ associated|大便的时候疼不疼？
associated|有没有头晕、心慌、眼前发黑？ general|大便次数和形状有什么变化，干不干？
associated|肚子疼不疼，跟吃饭有关系吗？ associated|有没有东西从肛门脱出来？ general|最近体重有没有下降？
medication|最近吃过阿司匹林、止痛药吗？ onset|什么时候开始的？ associated|有没有黏液、总想拉又拉不净的感觉？
personal|平时喝酒吗，喝多少？ past|以前得过胃溃疡、肝病、痔疮吗？ family|家里人有没有得过肠道肿瘤？
prior_care|做过胃镜、肠镜吗？ associated|有没有恶心、吐过血？
[黄疸]发黄|黄疸|眼睛黄|脸黄|皮肤黄|酱油色|茶色
onset|什么时候发现发黄的，越来越重吗？ associated|小便、大便是什么颜色？ associated|皮肤痒不痒？
associated|肚子疼不疼，疼在哪里？ associated|有没有发烧、怕冷？ general|胃口、体力怎么样，体重掉了吗？
associated|有没有恶心、怕油腻？ personal|喝酒吗，喝多少、多少年？ past|以前得过肝炎或胆结石吗？
medication|最近吃过什么药、保健品吗？ associated|肚子有没有胀大、腿肿？ personal|最近吃过生的海鲜，接触过肝炎病人吗？
prior_care|化验过肝功能吗？
[吞咽]咽不下|吞咽|噎|咽东西|卡住|嗓子.{0,4}堵
severity|吃干的噎还是喝稀的也噎？ course|是越来越重还是时好时坏？ general|最近体重掉了多少？
associated|有没有反酸、烧心？ associated|胸口或后背疼不疼？ associated|声音哑不哑，喝水呛不呛？ onset|什么时候开始的？
personal|抽烟喝酒吗，爱吃烫的、腌的吗？ associated|有没有吐过，大便黑不黑？ family|家里人有没有得过食管、胃的肿瘤？
prior_care|做过胃镜吗？ past|以前胃有没有毛病？
[头痛]头.{0,4}(疼|痛)|偏头|太阳穴|后脑勺.{0,4}(疼|痛)
site|具体是头的哪个地方疼，是哪一侧？ onset|是突然疼起来的还是慢慢的，什么时候开始的？
character|是怎么个疼法，跳着疼、箍着疼还是炸着疼？ course|每次疼多久，多长时间犯一次？ associated|有没有恶心、呕吐？
associated|怕不怕光、怕不怕吵？ modifying|做什么会让疼加重，怎么样能轻一点？
trigger|疼之前有什么诱因，比如没睡好、来月经、生气？ associated|疼之前眼前有没有闪光、看东西模糊？
associated|手脚有没有没劲、发麻，说话利索吗？ associated|有没有发烧，脖子硬不硬？
associated|眼睛红不红、流泪流鼻涕吗？ severity|疼得影响干活、睡觉吗？
medication|疼起来吃什么药，一个月吃几次，管用吗？ past|血压高吗，最近磕碰过头吗？ family|家里人有没有类似的头疼？
general|睡眠和情绪怎么样？ prior_care|做过头部CT之类的检查吗？
[头晕]头晕|眩晕|天旋地转|发晕|晕得|转得|迷糊|晕倒|晕过去|昏倒|一头栽
character|晕起来是天旋地转还是昏沉、站不稳？ trigger|什么情况下会晕，跟翻身、起床、站起来有关吗？
course|每次晕多长时间，一共犯过几次？ associated|耳朵有没有响、听力下降、发闷？ associated|有没有恶心、呕吐？
associated|手脚有没有没劲、发麻，说话清楚吗？ associated|有没有心慌、出汗、眼前发黑？
onset|第一次是什么时候，当时在做什么？ associated|有没有晕倒过，当时抽不抽、能不能叫醒？
associated|看东西有没有重影、走路偏不偏？ past|以前血压、血糖、颈椎有没有毛病？
medication|平时在吃什么药，最近调过吗？ associated|最近感冒发烧过吗？ associated|头疼吗？
prior_care|量过血压、做过检查吗？ associated|大便黑不黑，月经多不多？
[无力麻木]没劲|无力|没力气|抬不起|拿不住|麻|口角|嘴歪|说话不清|口齿|半边|偏瘫|手抖|抖|动作慢|走不稳|僵|走路
onset|是什么时候、怎么发现的，突然还是慢慢的？ site|是哪边、哪个部位没劲或者发麻，一边还是两边？
course|是越来越重，还是时好时坏，一天里有变化吗？ associated|说话清不清楚，嘴歪不歪？
associated|看东西有没有重影、眼皮下垂？ associated|吞东西、喝水呛不呛？ associated|有没有头疼、头晕、恶心？
severity|影响走路、拿东西这些日常的事吗？ associated|有没有麻木、感觉不对劲的地方？ associated|大小便控制得住吗？
modifying|累了以后加重、歇歇能好点吗？ associated|睡觉、闻味道、情绪有没有变化？
past|以前有没有高血压、糖尿病、心脏病？ associated|发病前感冒、拉肚子过吗？ medication|平时在吃什么药？
family|家里人有没有类似的病？ personal|抽烟喝酒吗？ prior_care|去医院看过吗，做过什么检查？
[意识认知]反应迟|反应慢|记性|记不住|忘事|健忘|糊涂|说胡话|认不出|认不得|迷路|叫不应
onset|是什么时候、怎么发现的，突然还是慢慢的？ course|是一直这样，还是时清楚时糊涂，一天里有变化吗？
associated|有没有发烧，最高多少度？ associated|有没有咳嗽、咳痰、喘气费力？ associated|手脚有没有没劲、嘴歪、说话不清？
associated|有没有头疼、呕吐？ past|以前脑子怎么样，平时生活能自理吗？ trigger|最近有没有摔过、磕到头？
medication|平时在吃什么药，最近有没有新加或者停掉的？ associated|会不会看到、听到不存在的东西？
associated|有没有抽过、晕倒过？
severity|还认得家里人吗，出门会走丢吗？ general|吃饭、喝水、睡觉怎么样？ general|大小便正常吗，憋得住吗？
past|以前有没有高血压、糖尿病、中风？ prior_care|去医院看过吗，做过什么检查、用过什么药？ allergy|对什么药过敏吗？
associated|走路稳不稳，手抖不抖？ associated|心情怎么样，对喜欢的事还有兴趣吗？ family|家里人有没有类似的病？
personal|抽烟喝酒吗？
[抽搐]抽(搐|风|筋|过去|了)|翻白眼|口吐白沫|发呆|叫不醒|愣神
character|抽的时候是什么样子，眼睛、手脚怎么动？ course|每次抽多长时间，一共抽过几次？
associated|抽的时候叫得醒吗，过后记得吗？ associated|当时发不发烧，多少度？ associated|有没有咬舌头、尿裤子？
trigger|抽之前有什么诱因，比如熬夜、漏药？ associated|抽完以后人怎么样，有没有头疼、犯困、手脚没劲？
past|以前抽过吗，头部受过伤吗？ family|家里人有没有抽风或癫痫的？ development|出生和发育正常吗？
associated|有没有呕吐、头疼？ prior_care|做过脑电图或头部检查吗？ medication|在吃什么药？ onset|第一次是什么时候？
[关节痛]关节|(脚趾|膝盖?|手指|手腕|脚踝|大脚|肩膀?|胯|髋|大腿根).{0,8}(疼|痛|肿|酸|僵|胀|响|难受|不舒服|抬不|弯不|变形|红)|(疼|痛|肿|僵|抬).{0,6}(脚趾|膝|手指|手腕|脚踝|肩|胯|髋)
site|具体是哪些关节疼，一边还是两边？ onset|什么时候、怎么开始疼的，突然还是慢慢的？
associated|疼的地方红不红、肿不肿、热不热？ associated|早上起来僵不僵，多久能活动开？
modifying|活动以后重还是歇着重，怎么能缓解？ trigger|疼之前喝过酒、吃过海鲜或者扭伤过吗？
course|以前犯过吗，每次多久能好？ severity|影响走路、上下楼、拿东西吗？ associated|有没有发烧？
associated|身上有没有皮疹、口腔溃疡、掉头发？ associated|眼睛、嘴干不干，眼睛红不红？
associated|腰背疼不疼，夜里会疼醒吗？ past|以前尿酸高不高，有没有肾结石、牛皮癣？
medication|吃过哪些止痛药或激素，管用吗？ family|家里人有没有类似的关节毛病？
prior_care|化验过血、拍过片子吗，结果怎么样？ personal|平时做什么工作，喝酒吗？
[腰背痛](腰|后背|脊背|脖子|颈|背).{0,8}(疼|痛|酸|麻|僵|胀|硬|难受|不舒服|直不|弯不)|颈椎|(疼|痛|闪|扭).{0,4}(腰|后背|脖子)
site|疼在哪个位置，会往腿、屁股或者小肚子串吗？ onset|什么时候、怎么疼起来的？
character|是怎么个疼法，酸疼、胀疼还是一阵阵绞着疼？ modifying|歇着重还是活动以后重，咳嗽、弯腰会加重吗？
associated|腿脚麻不麻、有没有劲？ associated|小便疼不疼，颜色红不红？ associated|有没有发烧、怕冷？
associated|早上起来僵不僵，夜里会疼醒吗？ severity|能走多远，歇一下能好吗？
trigger|疼之前有没有搬重东西、扭着或者摔过？ associated|大小便控制得住吗？ associated|有没有恶心、呕吐？
general|最近体重掉了吗，有没有变矮？ past|以前腰上受过伤、得过结石吗？ family|家里人的腰背、关节有没有毛病？
prior_care|拍过片子吗，治过没有？ personal|平时干什么活，久坐吗？
[泌尿]尿|小便|夜尿|前列腺|解手
onset|小便不对劲是从什么时候开始的？ character|小便是什么颜色，有没有血、泡沫或者浑浊？
associated|小便的时候疼不疼、烧不烧？ course|白天晚上各尿几次，是一直这样还是越来越重？ associated|腰疼不疼？
associated|有没有发烧、怕冷？ character|尿得顺不顺，尿线细不细，要等多久？ associated|眼皮、腿有没有肿？
severity|憋得住吗，有没有漏尿？ associated|口渴不渴，喝水多不多？ general|体重有没有变化？
trigger|发病前有没有憋尿、劳累、感冒嗓子疼？ past|以前泌尿系统有没有出过问题，血糖血压高不高？
personal|抽烟吗，做什么工作？ personal|最近有没有性生活？ medication|最近吃过什么药？
prior_care|验过尿、做过B超吗，结果怎么样？ associated|[女]白带正常吗，下面痒不痒？ family|家里人有没有肾脏方面的病？
[阴囊]睾丸|阴囊|蛋蛋|下面.{0,4}(肿|疼|痛)|大腿根.{0,4}(包|鼓)|腹股沟
onset|是怎么疼起来的，突然还是慢慢的？ site|是哪一侧，往小肚子串吗？ trigger|疼之前受过伤、剧烈运动过吗？
associated|肿不肿、红不红？ associated|有没有恶心、呕吐？ associated|有没有发烧？ associated|小便疼不疼、频不频？
course|以前有过类似的疼吗，怎么好的？ character|鼓的包平时能按回去吗，现在呢？
associated|肚子疼不疼，还放屁、解大便吗？ modifying|托起来疼会轻点吗？ personal|最近有没有性生活？
prior_care|做过B超吗，用过药吗？
[水肿]肿(?!瘤)|浮肿|水肿
site|最先从哪里肿的，一边还是两边？ onset|什么时候开始肿的，越来越重吗？ associated|小便多不多，有没有泡沫或者发红？
associated|有没有气短，晚上能平躺吗？ modifying|早上重还是晚上重，抬高腿会消吗？ associated|疼不疼、红不红、热不热？
general|胃口、体重有什么变化？ trigger|之前有没有感冒嗓子疼、久坐或者手术？ associated|有没有怕冷、便秘、没精神？
past|以前有没有心脏、肝、肾方面的病？ medication|平时吃什么药？ personal|喝酒吗？ prior_care|验过尿、量过血压吗？
associated|肚子胀不胀？ associated|身上有没有皮疹、关节疼？
[皮疹]疹|疙瘩|痒|红点|水泡|水疱|皮肤|斑|脱皮|痘|皮屑|起皮|风团
site|最先从哪里起的，后来长到哪里？ character|长的什么样，红点、水泡还是一块一块的，起皮吗？
associated|痒不痒、疼不疼，晚上重吗？ onset|什么时候开始起的，怎么发展的？
trigger|起之前吃过什么、用过什么药或者接触过什么东西吗？ associated|有没有发烧？
course|是一直有还是一阵一阵，消了会再起吗？ associated|嘴里、眼睛、嗓子有没有不舒服？
associated|有没有气短、嘴唇肿、肚子疼？ personal|家里人或同屋的人有没有一样的？ past|以前起过类似的吗？
allergy|以前对什么药物、食物过敏？ associated|关节疼不疼？ family|家里人有没有过敏、皮肤方面的病？
medication|最近抹过、吃过什么药，管用吗？ modifying|什么情况下加重，比如出汗、晒太阳、洗澡？
development|预防针打过了吗？ general|精神、吃饭怎么样？
[出血]出血|流血|瘀|淤青|紫|牙龈|鼻子.{0,3}血|月经.{0,4}(多|不)|脸色.{0,4}(白|黄)|贫血|乏力|累|没精神|疲
onset|什么时候开始的，越来越重吗？ associated|皮肤有没有瘀青、红点，牙龈、鼻子出血吗？
associated|有没有头晕、心慌、活动后气短？ general|吃饭怎么样，体重掉了吗？ associated|有没有发烧？
associated|大便黑不黑、有没有血？ obstetric|[女]月经怎么样，量多不多、来几天？ associated|骨头疼不疼？
associated|脖子或别处有没有摸到疙瘩？ associated|怕冷还是怕热，有没有脱发、便秘？ personal|平时饮食怎么样，吃素吗？
associated|手脚麻不麻，舌头疼不疼？ medication|最近吃过什么药？ past|以前有没有胃病、肝病，做过手术吗？
general|睡眠和情绪怎么样？ prior_care|查过血常规吗？ trigger|之前感冒过或打过疫苗吗？
family|家里人有没有血液方面的病？
[代谢]口渴|多饮|喝水多|瘦|消瘦|变胖|长胖|体重|血糖|怕热|手抖|多汗|饿|甲状腺|脖子粗|怕冷|骨头|变矮|泌乳|溢乳
onset|什么时候开始的，怎么发展的？ associated|口渴不渴，喝水和小便多不多？ general|体重和饭量有什么变化？
associated|心慌不慌，怕热多汗、手抖吗？ associated|怕冷吗，有没有便秘、没精神？
associated|脖子粗不粗、疼不疼，眼睛有没有鼓？ associated|有没有看东西模糊、手脚麻？ obstetric|[女]月经规律吗？
associated|有没有恶心呕吐、肚子疼？ associated|皮肤有没有变黑、紫纹、容易青？
course|一天里什么时候明显，跟吃饭有关系吗？ associated|有没有头疼、血压高？ modifying|吃点东西能缓解吗？
family|家里人有没有糖尿病、甲状腺的病？ medication|吃过激素或者别的药吗？ prior_care|查过血糖、甲功吗，结果多少？
general|情绪和睡眠怎么样？ past|以前得过什么病，做过手术吗？
[妇科]月经|例假|大姨妈|白带|停经|下身|下面.{0,6}(痒|出血|流血|见红)|阴道|外阴|子宫|绝经|潮热|同房|怀不上|痛经
obstetric|末次月经是什么时候，平时规律吗？ severity|出血量有多少，有没有血块？
obstetric|有没有怀孕的可能，自己测过吗？ site|肚子疼不疼，疼在哪里？ character|白带是什么颜色、有没有异味？
associated|下面痒不痒、疼不疼？ associated|同房后出血或者疼吗？ onset|什么时候开始的，怎么发现的？
associated|有没有发烧？ associated|有没有头晕、没力气？ obstetric|以前怀过几次，生过、流过吗？
associated|小便频不频、疼不疼？ associated|脸上长不长痘、汗毛重不重，体重长得快吗？
associated|有没有潮热、出汗、睡不好？ personal|平时用什么办法避孕？ past|以前得过妇科方面的病、做过手术吗？
prior_care|做过B超或者宫颈筛查吗，结果怎么样？ family|家里人有没有妇科肿瘤或者糖尿病？
medication|最近吃过什么药，比如避孕药、抗生素？
[产科]怀孕|孕\d|孕\w{0,2}(周|月)|胎|产后|预产期|见红|哺乳|喂奶|奶(疼|胀)|乳
obstetric|现在怀孕多少周，末次月经是哪天？ severity|出血多不多，什么颜色，有没有血块？
associated|肚子疼不疼，是一阵一阵还是一直硬？ associated|胎动正常吗？ associated|有没有头疼、眼花、看东西模糊？
associated|腿、脸肿不肿？ prior_care|产检做过哪些，血压、B超怎么样？
trigger|出血或疼之前有什么诱因，比如同房、摔倒、劳累？ obstetric|这是第几胎，以前流产、剖宫产过吗？
associated|吐得厉害吗，能吃进东西吗？ associated|有没有发烧，乳房红肿、有硬块吗？ general|体重、小便有没有变化？
past|怀孕前血压、血糖高不高？ family|家里人有没有高血压、糖尿病？ onset|什么时候、怎么开始的？
associated|摸到的包会动吗，疼不疼，乳头流水吗？
[眼]眼|看东西|视力|看不清|视物|飞蚊|重影
onset|是突然发生的还是慢慢来的，什么时候发现的？ site|是一只眼还是两只眼，哪一只？
severity|视力有没有下降，看东西清楚吗？ associated|眼睛疼不疼、胀不胀？ associated|红不红，有没有分泌物？
associated|怕不怕光、流不流泪？ associated|有没有黑影、闪光、飞蚊？ associated|看灯有没有彩虹圈？
associated|有没有头疼、恶心？ associated|干不干、痒不痒、有没有沙子感？ trigger|之前用眼多不多，受过伤或者情绪激动吗？
past|以前眼睛有没有毛病，近视多少度？ past|血压、血糖高不高？ associated|关节疼不疼，嘴里有溃疡吗？
personal|身边有没有人红眼？ medication|点过什么眼药水，管用吗？ family|家里人有没有得过眼睛的病？
[咽喉]嗓子|咽(?!不下|东西)|喉(?!中|里.{0,2}[呼响鸣])|扁桃|声音|声嘶|哑
onset|什么时候、怎么开始的？ associated|有没有发烧，最高多少度？ associated|吞东西、咽口水疼不疼？
associated|脖子有没有摸到疙瘩？ associated|身上有没有起疹子？
associated|有没有咳嗽、鼻塞、流鼻涕？ associated|张嘴、喘气有没有困难？ associated|声音哑不哑，喝水呛不呛？
associated|小便颜色、量有没有变化？
trigger|发病前有没有受凉、劳累、大声说话？ course|是越来越重还是时好时坏？ associated|有没有反酸、烧心？
associated|关节疼不疼、心慌不慌？ associated|眼皮、腿有没有肿？ past|以前扁桃体、鼻子有没有毛病，类似的犯过吗？
medication|吃过什么药，管用吗？ prior_care|去医院看过吗，验过血、验过尿吗？ personal|抽烟喝酒吗？
personal|身边有没有人得一样的病？ allergy|有没有对什么过敏？ general|精神、吃饭、睡觉怎么样？
family|家里人有没有类似的病？
[耳鼻]耳|听|鼻|喷嚏|打呼|鼾
onset|什么时候、怎么开始的？ site|是一边还是两边的毛病，哪一边重？ associated|听力有没有下降，耳朵响不响？
associated|有没有头晕、天旋地转？ character|鼻涕是什么颜色，清的还是黄的？ associated|打喷嚏、鼻子痒、眼睛痒吗？
associated|有没有发烧？ associated|吞东西疼不疼，张嘴、呼吸困难吗？ associated|鼻涕、痰里有没有带血？
associated|耳朵疼不疼、流水流脓吗？ associated|头疼、脸胀不胀，闻得到味道吗？ associated|脖子有没有摸到疙瘩？
trigger|什么情况下会犯，跟花粉、灰尘、冷空气有关吗？ course|一直这样还是一阵一阵的，什么时候重？
trigger|之前感冒、熬夜、进水或者听过大声音吗？ past|以前有没有鼻炎、哮喘、中耳炎？ allergy|有没有对什么过敏？
family|家里人有没有过敏或类似的病？ medication|用过什么药，管用吗？ general|白天困不困，睡觉憋醒吗？
[精神]睡不着|失眠|心情|情绪|烦|高兴不起来|紧张|害怕|担心|焦虑|想死|没意思|幻|有人(要)?害|洗手|反复检查|脾气|不想说话|话多|兴奋
onset|什么时候开始的，当时有什么事吗？ associated|心情怎么样，对喜欢的事还有兴趣吗？
associated|有没有觉得活着没意思、不想活的念头？ general|睡眠怎么样，入睡难还是早醒？
course|是一直这样还是一阵一阵的，每次多久？ associated|紧张担心的时候有没有心慌、出汗、憋气？
severity|影响上班上学、跟人来往吗？ associated|有没有听到别人听不到的声音，觉得有人要害您？
associated|有没有一段时间特别兴奋、话多、不用睡觉？ general|胃口和体重有什么变化？
associated|有没有控制不住反复想、反复做的事？ associated|精力、注意力、记性怎么样？ trigger|什么场合或什么事会让您犯？
past|以前有过类似的情况吗？ family|家里人有没有精神或情绪方面的问题？ personal|喝酒、喝咖啡吗，压力大不大？
medication|吃过什么药，吃没吃助眠的药？ associated|怕热手抖吗，甲状腺查过吗？
[口腔]牙|口腔|溃疡|嘴里|舌|智齿|口疮
site|是哪一颗、哪个位置疼？ character|是怎么个疼法，一阵一阵还是跳着疼？ modifying|冷的热的刺激会疼得厉害吗？
course|自己会疼吗，夜里疼不疼得醒？ associated|咬东西疼不疼？ associated|牙龈肿不肿、出不出血？
associated|张嘴困难吗，脸肿不肿？ associated|有没有发烧？ onset|什么时候开始的？
course|以前反复长过吗，多久一次，几天好？ associated|牙松不松，有没有口臭？
associated|下身、眼睛、皮肤有没有长过东西？ past|牙以前补过、蛀过吗？ medication|吃过什么药，管用吗？
personal|抽烟吗，平时怎么刷牙？ past|血糖高不高？
[肿块]包块|肿块|疙瘩|硬块|结节|鼓.{0,3}包|长.{0,3}包|摸到
onset|什么时候发现的，怎么发现的？ course|有没有变大，长得快不快？ associated|疼不疼？ character|硬不硬，推得动吗？
associated|有没有发烧、夜里出汗？ general|最近体重和胃口有没有变化？ associated|别的地方还有没有疙瘩？
associated|声音哑不哑，吞东西、喘气受影响吗？ associated|皮肤有没有变化，乳头流水吗？ family|家里人有没有得过肿瘤？
prior_care|做过B超或穿刺吗？ past|以前有没有结核、肿瘤？ obstetric|[女]月经怎么样，生过孩子、喂过奶吗？
[中毒创伤]农药|煤|炭火|喝了|误服|中暑|晒|钉子|扎了|咬(了|伤)|摔|撞|扭|打针后|输液后|嘴张不开
trigger|当时是怎么回事，接触了什么、多长时间？ onset|过了多久开始不舒服的？ associated|人清醒吗，叫得应吗？
associated|有没有恶心、呕吐、肚子疼？ associated|出汗、流口水多不多？ associated|有没有喘不上气、胸闷？
associated|有没有抽筋、肌肉跳？ associated|体温多少，出不出汗？ personal|一起的人有没有一样的不舒服？
associated|身上有没有皮疹、脸肿？ severity|还能走路、活动吗？ allergy|以前对什么过敏？
past|以前有什么病，破伤风针打过吗？ prior_care|当时怎么处理的？ associated|张嘴、吞东西困难吗？
associated|头疼头晕吗？
"""
