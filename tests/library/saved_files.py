"""Ways to save one text: a reader must find the same in each."""

import codecs
import gzip

SAVED = {
    "with a byte-order mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "by Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "by Windows with a byte-order mark": lambda text: codecs.BOM_UTF8 + text.replace("\n", "\r\n").encode(),
    "without a last line end": lambda text: text.removesuffix("\n").encode(),
    "packed": lambda text: gzip.compress(text.encode()),
}
