# SPDX-License-Identifier: Apache-2.0
"""Writes a task (records.py): token ids that every engine is given as they are.

usage: prompts.py text GDN CHECKPOINT OUT | random CHECKPOINT OUT

text: English in the manner of the King James Bible, written for this purpose,
through gdn's tokenizer; from a few words to past two chunks of the rule.
random: ids of the whole vocabulary, lengths at and around multiples of 64.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import records

NEW_TOKENS = {"text": 64, "random": 48}
LENGTHS = (1, 2, 3, 5, 8, 13, 21, 31, 48, 63, 64, 65, 96, 127, 128, 129, 131, 192, 200, 257)

SENTENCES = """\
In the beginning
And it came to pass
Blessed is the man that
The word of the LORD came unto me, saying,
Hear, O my son, and
And the king said unto his servants,
Woe unto them that
Let the earth rejoice, and
And the shepherd rose up early in the morning, and gathered his flock by the well of water.
Then said the woman unto the elders of the city, Wherefore sit ye here in the gate?
Thou shalt not turn aside from the way which thy fathers walked in, neither to the right hand nor to the left.
And there was a great famine in the land, and the people cried for bread, and there was none.
Give ear unto my voice, O LORD, for I am poor and in trouble all the day long.
And the number of them that went up was forty and two thousand, beside their wives and their little ones.
A soft word is as honey in the mouth of the wise, but the fool speaketh and knoweth not what he saith.
And he built there an altar of stone, and called upon the name of the God of his fathers.
Now these are the names of the sons of the captain of the host, which were born unto him beyond the river.
The heavens are high, and the sea is deep, and who shall number the sand that lieth upon the shore thereof?
And when the disciples saw it, they marvelled, and said one to another, What manner of thing is this?
For if ye love only them that love you, what reward have ye? and if ye lend to him that hath, what do ye more?
And the priest shall take of the oil, and of the fine flour, and shall offer it upon the fire before the door.
Comfort thyself, O daughter of the hills, for the day of thy mourning is ended, and the night is past.
And I saw, and behold, a man clothed in white stood upon the wall, and in his hand was a measuring line.
Therefore go ye up, and possess the land, and be not afraid of the people thereof, for they are as grass.
""".splitlines()


def texts():
    longer = SENTENCES[8:]
    joined = ["\n".join(longer[i:i + count]) for i, count in
              enumerate((2, 2, 3, 3, 4, 4, 5, 6))]
    return SENTENCES + joined


def encode(gdn, checkpoint, text):
    done = subprocess.run([gdn, "tokenize", "-m", checkpoint, "-p", text, "--json"], check=True,
                          capture_output=True, encoding="utf-8")
    return json.loads(done.stdout)["tokens"]


def main():
    kind, *gdn, checkpoint, out = sys.argv[1:]
    if kind == "text":
        ids = [encode(gdn[0], checkpoint, text) for text in texts()]
    else:
        vocab = records.read(Path(checkpoint) / "config.json")["vocab_size"]
        rng = random.Random(3)
        ids = [[rng.randrange(vocab) for _ in range(length)] for length in LENGTHS]
    eos = records.read(Path(checkpoint) / "generation_config.json")["eos_token_id"]
    records.write(out, {"checkpoint": checkpoint, "new_tokens": NEW_TOKENS[kind], "eos": eos,
                        "prompts": ids})


main()
