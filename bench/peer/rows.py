"""Reads the rows of a CSV file, hashes each and compares it with what SQLite holds: python3 rows.py <csv> <key column> <database>."""

import csv
import hashlib
import json
import sqlite3
import sys

path, key, database = sys.argv[1:]
csv.field_size_limit(1 << 24)
connection = sqlite3.connect(database)
connection.execute("create table if not exists rows (id text primary key, digest blob, row text)")
with open(path, encoding="windows-1252", errors="replace", newline="") as file:
    rows = csv.reader(file)
    column = next(rows).index(key)
    for row in rows:
        digest = hashlib.sha256("\0".join(row).encode()).digest()
        known = connection.execute("select digest from rows where id = ?", (row[column],)).fetchone()
        if known is None or known[0] != digest:
            connection.execute("insert or replace into rows values (?, ?, ?)", (row[column], digest, json.dumps(row)))
connection.commit()
