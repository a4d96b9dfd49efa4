"""Writes seed inputs for the fuzz targets: make_corpus.py [FOLDER], build/fuzz/corpus by default."""

import io
import pathlib
import random
import struct
import sys

from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import holdings  # noqa: E402
import torch_files  # noqa: E402

random.seed(11)


def picture(mode, size=(24, 20)):
    count = size[0] * size[1]
    bands = len(Image.new(mode, (1, 1)).getbands())
    return Image.frombytes(mode, size, bytes(random.randrange(256) for _ in range(count * bands)))


def encoded(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def exif(orientation):
    block = Image.Exif()
    block[0x0112] = orientation
    block[0x010F] = "Maker"
    block.get_ifd(0x8769)[0x9003] = "2024:05:01 12:30:00"
    return block.tobytes()


def jpegs():
    rgb = picture("RGB")
    for subsampling in range(3):
        yield encoded(rgb, "JPEG", quality=60, subsampling=subsampling)
        yield encoded(rgb, "JPEG", quality=60, subsampling=subsampling, progressive=True)
    yield encoded(rgb, "JPEG", quality=30, exif=exif(6))
    yield encoded(rgb, "JPEG", quality=30, restart_marker_blocks=1)
    yield encoded(picture("L"), "JPEG", progressive=True)
    yield encoded(picture("CMYK"), "JPEG", quality=20)


def pngs():
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA"):
        image = picture("L").convert(mode) if mode in ("1", "P") else picture(mode)
        yield encoded(image, "PNG")
    yield encoded(Image.new("I;16", (9, 7), 300), "PNG")
    yield encoded(picture("RGB"), "PNG", exif=exif(3))
    yield encoded(picture("L").convert("P"), "PNG", transparency=3)
    # The same with the header's flag for interlacing set: wrong data, right path.
    plain = bytearray(encoded(picture("RGB", (8, 8)), "PNG"))
    plain[28] = 1
    import zlib

    plain[29:33] = struct.pack(">I", zlib.crc32(bytes(plain[12:29])))
    yield bytes(plain)


def rows():
    content = bytes([4]) + bytes(range(16))
    number = bytes([1, 7])
    text = bytes([5, 4]) + b"text"
    null = bytes([0])
    yield bytes([0]) + content + number + number + null + text + content
    yield bytes([0]) + text + number + number + number + text + null
    yield bytes([1]) + content + null + text * 2 + number * 8 + text * 3 + number * 2
    yield bytes([1]) + content + bytes([2]) + b"\xff" * 8 + text * 2 + (bytes([2]) + b"\x7f" * 8) * 8 + text * 3 + number * 2
    jpeg = encoded(picture("RGB", (4, 4)), "JPEG", quality=5, optimize=True)[:250]
    yield bytes([2]) + content + bytes([17, len(jpeg)]) + jpeg
    yield bytes([3]) + content + content + number + number + bytes([3]) + struct.pack("<d", 0.5)
    yield bytes([4]) + content + content


SETTINGS = [
    b"kinds: dhash,phash\nsize: 16\n",
    b"exclude: [a, 'b*', \"**/c\"]\nmax-pixels: 1000\n",
    b"match: dhash<=5,ahash<=5\ngroup: tight\nhidden: true\n",
    b"min-size: 1.5M\nkeep: pixels,bytes\nreference:\n  - x\n  - y\n",
    b"orientation: exif\n---\n",
    b"{size: 8, decode: fast}",
    b"a: &a [*a]\n",
    b"style: jkx\nwindow: 20\nma: 5\nvolume: false\n",
    b"size: x80\ncolumns: close=Adj Close,date=Day\nlabels: 5,20\nline-width: 2.5pt\n",
]

# The first byte, which main() adds, is the size of the pieces that they are read in.
DATES = [b"2016-12-01\n2016-12-02 09:30:00.5+01:00", b"01/12/2016\n31/12/16", b"Thu, Dec 1, 2016 9:30 PM\n01DEC2016:09:30:00",
         b"1480550400000.5\n1480550401000", b"20161201 093000\n201612010930", b"201612\n2016", b"16/12/01 24:00"]

TABLES = [
    b"Date,Open,High,Low,Close,Volume\n2020-01-02,1,2,0.5,1.5,100\n2020-01-03,,nan,null,-,1e5\n",
    b"\xef\xbb\xbfclose;n\r\n\"1,5\";2\r\n\r\n+3;4",
    b"# words\n#\n\"a \"\"b\"\"\",c\n\"1\",\"two\nlines\"\n",
    b"close\n1\n2\n3",
    b"1.5\n\n+2\n\"\"\n",
    b"a\tb\r\n\"x\"\"\ny\" \t 3 \r\n",
]


def arrays():
    for shape, kind in [((5,), "<f8"), ((4, 3), "<u2"), ((2, 3, 4), "<f4"), ((0,), "|u1")]:
        for version in (1, 2, 3):
            text = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode() + b"\n"
            length = struct.pack("<H" if version == 1 else "<I", len(text))
            count = 1
            for side in shape:
                count *= side
            yield b"\x93NUMPY" + bytes([version, 0]) + length + text + bytes(count * int(kind[2]))


def tensors():
    """The first byte says which format it is."""
    endings = (".npy", ".npy.gz", ".npz", ".pt", ".pt.gz", ".safetensors")
    for name, contents, _ in torch_files.files():
        # The longest ending is the right one; large files only cost time.
        index = max((i for i, ending in enumerate(endings) if name.endswith(ending)), key=lambda i: len(endings[i]))
        if len(contents) < 10_000:
            yield bytes([index]) + contents


RESULT = (
    b'{"millrace": "dedupe", "groups": [{"id": "1", "kind": "similar", "members": [{"path": "/a.jpg", "size": 5, "width": 40, '
    b'"height": 30, "mtime_ns": "7", "hash": "00112233445566778899aabbccddeeff", "keep": true, "why": "w", "place": [0, 0.5, 1, 1], '
    b'"companions": [{"path": "/a.raw"}]}, {"path": "/b.jpg", "path_base64": "L2L/", "size": 4, "mtime_ns": "-7", '
    b'"hash": "10112233445566778899aabbccddeeff", "as_good": true}], "pairs": [{"a": 0, "b": 1, "score": 0.5, '
    b'"distances": {"dhash": 3}}]}], "related": [], "totals": {"files": 2, "reclaimable_bytes": 4, "rule": "r"}, '
    b'"unreadable": [{"path": "/c.jpg", "reason": "empty"}], "damaged": []}'
)

# Of each action one; the paths fit each other, so that what is changed in them is what is tried.
JOURNALS = [
    b'{"millrace_journal": 1, "id": "0123456789abcdef", "action": "delete", "decisions": "/d.json"}\n'
    b'{"folder": "/p/.millrace-removed-0123456789abcdef"}\n'
    b'{"n": 1, "intent": "delete", "path": "/p/a.jpg", "to": "/p/.millrace-removed-0123456789abcdef/a (2).jpg", '
    b'"survivor": "/p/b.jpg", "size": 5, "mtime_ns": 7, "mode": 420, "owner": 0, "group_id": 0, "device": 1, "inode": 2}\n'
    b'{"n": 1, "done": true}\n{"undo": true}\n{"n": 1, "undone": "/p/a.jpg"}\n{"undo": "finished"}\n',
    b'{"millrace_journal": 1, "id": "0123456789abcdef-2", "action": "move", "destination": "/m"}\n{"folder": "/m/p"}\n'
    b'{"n": 1, "intent": "move", "path": "/x/p/a.jpg", "to": "/m/p/a.jpg", "main": "/x/p/a.raw", '
    b'"temporary": "/m/p/.millrace-partial-0123456789abcdef-2-1", "size": 5, "mtime_ns": -7}\n{"n": 1, "failed": "x"}\n',
    b'{"millrace_journal": 1, "id": "0123456789abcdef", "action": "hardlink"}\n'
    b'{"n": 3, "intent": "hardlink", "path": "/p/a.jpg", "to": "/p/b.jpg", "survivor": "/p/b.jpg", '
    b'"temporary": "/p/.millrace-link-0123456789abcdef-3", "hash": "00112233445566778899aabbccddeeff"}\n',
    b'{"millrace_journal": 1, "id": "0123456789abcdef", "action": "trash"}\n'
    b'{"apart": [["00112233445566778899aabbccddeeff", "10112233445566778899aabbccddeeff"]], "catalog": "/c"}\n'
    b'{"n": 1, "intent": "trash", "path": "/p/a\\ufffd.jpg", "path_base64": "L3AvYf8uanBn"}\n{"n": 1, "purge": true}\n{"cut',
]


DECISIONS = [
    b'{"millrace_decisions": 1, "note": {"deep": [[1, {"decisions": []}], null]}, "references": ["/r", {"path_base64": "L/8="}], '
    b'"decisions": [{"group": "g", "action": "remove", "path": "/p/a.jpg", "size": 5, "mtime_ns": "-7", '
    b'"hash": "000102030405060708090a0b0c0d0e0f", "reference": true, "whole_group": 3, "chosen": true}, '
    b'{"group": "h", "action": "not_duplicates", "path": "/p/?", "path_base64": "L3Av/w==", "size": 0, '
    b'"mtime_ns": 1700000000123456789, "hash": "ffffffffffffffffffffffffffffffff", "with": "000102030405060708090a0b0c0d0e0f"}]}',
    b'{"decisions": [{"group": "g", "action": "keep", "path": "/p/a.jpg", "size": 5, "mtime_ns": "7", '
    b'"hash": "000102030405060708090a0b0c0d0e0f"}], "millrace_decisions": 1}',
]

XMP = b"""<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF>
<rdf:Description xmp:Rating="5" xmp:Label='Red' xmp:CreatorTool="A &amp; B" crs:HasSettings="True" crs:Exposure="1"
 exif:GPSLatitude="1N" exif:GPSLongitude="1E"><dc:subject><rdf:Bag><rdf:li>cat</rdf:li></rdf:Bag></dc:subject><!-- -->
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">T</rdf:li></rdf:Alt></dc:title><dc:description><![CDATA[x]]></dc:description>
<mwg-rs:Regions><mwg-rs:RegionList><rdf:Bag><rdf:li><rdf:Description mwg-rs:Name="Ada" mwg-rs:Type="Face"/></rdf:li></rdf:Bag>
</mwg-rs:RegionList></mwg-rs:Regions><MP:RegionInfo><a><rdf:li MPReg:PersonDisplayName="Ada"/></a></MP:RegionInfo>
<xmpMM:History><rdf:Seq><rdf:li stEvt:softwareAgent="GIMP" stEvt:changed="/"/></rdf:Seq></xmpMM:History>
<Iptc4xmpExt:PersonInImage><rdf:Bag><rdf:li>Ada</rdf:li></rdf:Bag></Iptc4xmpExt:PersonInImage></rdf:Description></rdf:RDF></x:xmpmeta>"""

TAKEOUT = b"""{"title": "a.jpg", "description": "x", "geoData": {"latitude": 48.1, "longitude": 11},
"people": [{"name": "Ada"}], "favorited": true}"""


def told():
    """EXIF of a camera and of people."""
    block = Image.Exif()
    for tag, value in {0x010F: "Maker", 0x0110: "M1", 0x0131: "Ver.1.00", 0x4746: 4, 0x010E: "OLYMPUS DIGITAL CAMERA"}.items():
        block[tag] = value
    block[0x9C9B] = "Title".encode("utf-16le")
    block[0x9C9E] = "a;b".encode("utf-16le")
    sub = block.get_ifd(0x8769)
    for tag, value in {0x9003: "2024:05:01 12:30:00", 0x9291: "25", 0x9011: "+02:00", 0xA431: "42", 0x927C: b"notes",
                       0x829A: 0.5, 0x829D: 2.8, 0x9204: -0.5, 0x8827: 400, 0x9286: b"ASCII\0\0\0words"}.items():
        sub[tag] = value
    place = block.get_ifd(0x8825)
    place[2], place[4] = (48.0, 8.0, 0.0), (11.0, 34.0, 0.0)
    return block.tobytes()[6:]


def box(kind, contents):
    return struct.pack(">I", 8 + len(contents)) + kind + contents


def live_photos():
    """Both halves, as far as their identifier goes."""
    identifier = b"7F1B1D2E-0000-4B5C-9E2A-AAAAAAAAAAAA"
    note = b"Apple iOS\0\0\1MM" + struct.pack(">HHHIIHHII", 2, 1, 9, 1, 14, 17, 2, len(identifier) + 1, 40) + identifier + b"\0"
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x927C] = note
    yield encoded(picture("L"), "JPEG", exif=exif)

    def box(kind, data):
        return struct.pack(">I", 8 + len(data)) + kind + data

    value = box(struct.pack(">I", 1), box(b"data", struct.pack(">II", 1, 0) + identifier))
    keys = box(b"keys", struct.pack(">II", 0, 1) + box(b"mdta", b"com.apple.quicktime.content.identifier"))
    for head in (b"", bytes(4)):
        yield box(b"ftyp", b"qt  ") + box(b"moov", box(b"meta", head + keys + box(b"ilst", value)))


def provenances():
    block = told()
    yield from live_photos()
    iptc = b"".join(b"\x1c\x02" + bytes([number]) + struct.pack(">H", len(text)) + text
                    for number, text in ((5, b"Title"), (25, b"cat"), (40, b"FBMD1"), (120, b"words")))
    resources = b"8BIM\x04\x04\0\0" + struct.pack(">I", len(iptc)) + iptc
    jpeg = encoded(picture("RGB"), "JPEG", quality=80, exif=b"Exif\0\0" + block, comment=b"CREATOR: gd-jpeg")
    for marker, data in ((0xE1, b"http://ns.adobe.com/xap/1.0/\0" + XMP), (0xED, b"Photoshop 3.0\0" + resources)):
        jpeg = jpeg[:2] + b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data + jpeg[2:]
    yield jpeg
    yield encoded(picture("L"), "JPEG", qtables=[[3] * 64])

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + b"crc."

    png = encoded(picture("L"), "PNG")
    yield (png[:33] + chunk(b"eXIf", block) + chunk(b"tEXt", b"Software\0GIMP") +
           chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP) + png[33:])
    yield encoded(picture("RGB"), "WEBP", exif=block, xmp=XMP)
    # The same structure in the other byte order is what Pillow makes of TIFF.
    tiff = Image.Exif()
    tiff.load(b"Exif\0\0" + block)
    tiff[700], tiff[0x83BB] = XMP, iptc
    for order in ("II", "MM"):
        tiff.endian = "<" if order == "II" else ">"
        yield tiff.tobytes()[6:]
    yield encoded(picture("L"), "TIFF", exif=tiff, big_tiff=True)
    info = b"\x02\0\0\0\0\x02\0\0Exif\0"
    item = b"\0\0\0\0" + block
    locations = b"\x01\0\0\0\x44\0\0\1\0\2\0\1\0\0\0\1" + struct.pack(">II", 0, len(item))
    yield (box(b"ftyp", b"heic\0\0\0\0mif1") +
           box(b"meta", bytes(4) + box(b"iinf", b"\0\0\0\0\0\1" + box(b"infe", info)) + box(b"iloc", locations) +
               box(b"idat", item)))
    # A picture, its tiles, a map that belongs to it, and one made of both.
    def entry(number, kind):
        return box(b"infe", b"\x02\0\0\0" + struct.pack(">HH", number, 0) + kind + b"\0")

    def refers(kind, number, *to):
        return box(kind, struct.pack(f">HH{len(to)}H", number, len(to), *to))

    kinds = [b"grid", b"hvc1", b"hvc1", b"hvc1", b"tmap"]
    places = b"".join(struct.pack(">HHHHII", number + 1, 1, 0, 1, 8 * number, 8) for number in range(len(kinds)))
    uses = b"\0\0\0\0" + struct.pack(">IHBB", 1, 4, 1, 0x81)
    yield (box(b"ftyp", b"heic\0\0\0\0mif1") +
           box(b"meta", bytes(4) + box(b"pitm", bytes(4) + b"\0\1") +
               box(b"iinf", b"\0\0\0\0\0\5" + b"".join(entry(number + 1, kind) for number, kind in enumerate(kinds))) +
               box(b"iref", bytes(4) + refers(b"dimg", 1, 2, 3) + refers(b"auxl", 4, 1) + refers(b"dimg", 5, 1, 4)) +
               box(b"iprp", box(b"ipco", box(b"auxC", bytes(4) + b"urn:com:apple:photo:2020:aux:hdrgainmap\0")) + box(b"ipma", uses)) +
               box(b"iloc", b"\x01\0\0\0\x44\0\0\5" + places) + box(b"idat", bytes(range(40)))))
    canon = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
    adobe = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
    yield (box(b"ftyp", b"crx \0\0\0\1") +
           box(b"moov", box(b"uuid", canon + box(b"CMT1", block) + box(b"CMT2", block) + box(b"CMT3", b"x"))) +
           box(b"uuid", adobe + XMP))
    yield b"\0\0\0\x0cJXL \r\n\x87\n" + box(b"Exif", item) + box(b"xml ", XMP)
    for colours in (holdings.ADOBE_RGB, holdings.DISPLAY_P3):
        profile = holdings.matrix_profile(colours)
        yield holdings.with_profile(encoded(picture("RGB"), "JPEG"), bytes_of_it=profile)
        yield encoded(picture("RGB"), "PNG", icc_profile=profile)
        yield (box(b"ftyp", b"heic\0\0\0\0mif1") +
               box(b"meta", bytes(4) + box(b"iprp", box(b"ipco", box(b"colr", b"prof" + profile)))))
    yield b"FUJIFILMCCD-RAW ".ljust(84, b"0") + struct.pack(">II", 92, len(jpeg)) + jpeg
    yield XMP
    yield TAKEOUT
    plain = encoded(Image.new("RGB", (24, 20), (90, 20, 200)), "JPEG")
    yield holdings.several(plain, (0, plain)) + holdings.film(1, 300)
    yield holdings.samsung(plain, (b"MotionPhoto_Data", holdings.film(1, 300)), (b"Voice", b"RIFF....WAVE" + bytes(40)))
    yield holdings.with_profile(plain, b"Adobe RGB (1998)") + b"#!AMR\nvoice"
    yield box(b"ftyp", b"avis\0\0\0\0avif") + box(b"mpvd", holdings.film(1, 300)) + box(b"moov", bytes(20))


CARDS = [b"{}", b'{"input": "bgr", "layout": "nhwc", "range": [0, 255], "mean": [1, 2, 3], "std": [1, 2, 3]}',
         b'{"activation": "softmax", "classes": [{"name": "a", "color": null}, {"name": "b", "color": "#e69f00"}]}',
         b'{"window": 512, "threshold": 0.4196}']


def networks():
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
    import onnx_model

    yield onnx_model.ramps(2, 4, 4)[0]
    yield onnx_model.ramps(1, 4, 4, channels_last=True)[0]
    yield onnx_model.external("weights.bin")
    yield onnx_model.model([onnx_model.node("Blur", "soft", ["x"], "y") + onnx_model.field(7, "com.example")], [],
                           [onnx_model.value_info("x", [1, 3, None, None])], [onnx_model.value_info("y", [1])])


# Of a picture, of one that failed, of one that was not read; of a look; of a part that was compared, and its shard.
LINES = [
    b'{"path":"/a.png","bytes":9,"mtime_ns":"5","content":"' + b"0" * 32 + b'","picture":{"format":2,"width":3,"height":4,"quality":50,"codes":["1","2","3","4","5","6"],'
    b'"exif_fields":0,"taken":"MjAyMA==","thumbnail":"/9j/"}}\n',
    b'{"path":"/b.nef","bytes":9,"mtime_ns":"-5","content":"' + b"1" * 32 + b'","failed":{"code":3,"reason":"no"}}\n',
    b'{"path":"/c","bytes":0,"mtime_ns":"0","error":{"code":5,"reason":"gone"}}\n',
    b'{"a":"' + b"0" * 32 + b'","b":"' + b"1" * 32 + b'","version":1,"verdict":"AAE="}\n',
    b'{"rule":"7","joined":"' + b"A" * 76 + b'"}\n{"rule":"7","end":[56,0,0]}\n',
    b'{"scores":"AAAAAAAAAAABAAAAAAAAAAEAAAAAAAA/"}\n{"shard":0,"xxh3":"0000000000000000"}\n',
]


def shards():
    """What shards_fuzz.cc reads: a byte that says which file of an unfinished output it is, and the file."""
    array = b'{"name":"images","rows":"numbers","type":"uint8","shape":[3,2],"extension":"npy"}'
    yield b"\0" + b'{"store":"folder","mark":"charts","rows":4,"each":2,"unit":"charts","arrays":[' + array + b'],"attributes":{"inputs":"[]"}}'
    yield b"\1" + b'{"inputs":"[]","shard":"2","version":"0.1.0"}'
    yield b"\2" + b'{"runs":3,"version":"0.1.0"}'
    yield b"\3" + b'{"shard":3,"part":"1/2","version":"0.1.0","rows":2,"bytes":12,"xxh3_of_files":"0123456789abcdef"}'
    numbers = lambda *all: struct.pack(f"<{len(all)}Q", *all)  # noqa: E731
    # Rows, then for each array how many lengths and bytes, those, and what tells of all of it.
    rows = numbers(2) + numbers(0, 4) + b"abcd" + numbers(2, 5) + struct.pack("<2I", 2, 3) + b"hello" + numbers(2, 6) + struct.pack("<2I", 3, 3) + b"zipzip"
    for kind in (0x84, 0x85):
        owner = b"0 to 4\n"
        yield bytes([kind]) + owner + rows + numbers(len(owner + rows), 2, 0, 0) + numbers(0)
        yield bytes([kind]) + owner + numbers(len(owner), 0, 0, 0) + numbers(0)
    yield b"\x86" + struct.pack("<IIB", 1, 2, 3) + numbers(1, 0)
    yield b"\7" + b"MRFILM1\n" + bytes(64)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2] / "build/fuzz/corpus")
    for name, inputs in {"jpeg": jpegs(), "png": pngs(), "catalog": rows(), "settings": SETTINGS,
                         "csv": [bytes([index]) + table for index, table in enumerate(TABLES)],
                         "dates": DATES, "npy": arrays(), "tensor": tensors(), "journal": JOURNALS,
                         "provenance": provenances(), "card": CARDS, "onnx": networks(),
                         "found": [RESULT], "decisions": DECISIONS, "stages": LINES, "shards": shards()}.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for index, data in enumerate(inputs):
            (folder / name / f"seed{index:02d}").write_bytes(data)


if __name__ == "__main__":
    main()
