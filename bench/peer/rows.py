"""
Reads the records of a file, hashes each and compares it with what SQLite holds: python3 rows.py <file> <key> <database>. The key is a column
of CSV, a member of JSON, or a child element of XML; lines of NDJSON are known by the id of their source.
"""

import csv
import hashlib
import json
import sqlite3
import sys
from xml.etree.ElementTree import iterparse

path, key, database = sys.argv[1:]
csv.field_size_limit(1 << 24)


def rows_of_csv():
    with open(path, encoding="windows-1252", errors="replace", newline="") as file:
        rows = csv.reader(file)
        column = next(rows).index(key)
        for row in rows:
            yield row[column], "\0".join(row), row


def elements_of_xml():
    for _, element in iterparse(path):
        found = element.find(f"{{*}}{key}") if element.tag.endswith("Detail_1_0") else None
        if found is not None:
            row = [text for child in element for text in (child.tag, child.text or "")]
            yield found.text, "\0".join(row), row
            element.clear()


def objects_of_json():
    with open(path, encoding="utf-8") as file:
        for row in next(value for value in json.load(file).values() if isinstance(value, list)):
            yield row[key], json.dumps(row), row


def lines_of_ndjson():
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield row["source"][key], line, row


readers = {"csv": rows_of_csv, "xml": elements_of_xml, "json": objects_of_json, "ndjson": lines_of_ndjson}
connection = sqlite3.connect(database)
connection.execute("create table if not exists rows (id text primary key, digest blob, row text)")
for id, text, row in readers[path.rsplit(".", 1)[1]]():
    digest = hashlib.sha256(text.encode()).digest()
    known = connection.execute("select digest from rows where id = ?", (id,)).fetchone()
    if known is None or known[0] != digest:
        connection.execute("insert or replace into rows values (?, ?, ?)", (id, digest, json.dumps(row)))
connection.commit()
