"""
Keeps a copy of a fundfeed server's opportunities and their histories in sync, in an SQLite file. It is an example to read and adapt: it
needs Python 3.9 or newer and nothing else.

  export FUNDFEED_KEY=ffk_live_...
  python3 examples/sync.py http://127.0.0.1:8080/v1 copy.sqlite    run it every few minutes

Each page is saved in one transaction with how far the copy has come. So the program can be killed at any point: the next run continues.
"""
import http.client
import json
import os
import random
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TABLES = """
create table if not exists opportunities (id text primary key, document text not null);
create table if not exists events (id text primary key, opportunity_id text not null, document text not null);
-- since: the newest updated_at of the last complete walk. While a walk is under way: its newest updated_at, and the cursor of the next page.
create table if not exists state (only integer primary key check (only = 1), since text, newest text, cursor text);
insert or ignore into state values (1, null, null, null);
"""
ATTEMPTS = 6


class Problem(Exception):
    """The server returned an error that another attempt would not change."""

    def __init__(self, status, problem):
        self.code = problem.get("code")
        super().__init__(f"{status} {self.code or ''} {problem.get('detail', '')} (request {problem.get('request_id', 'without id')})")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key must go to no other address."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirect)


def get(url, key):
    """Sends a request. Waits as long as a 429 requires, and retries temporary failures. Returns the parsed response."""
    failures = 0
    while True:
        retry_after = None
        try:
            request = urllib.request.Request(url, headers={"Accept": "application/json", "Authorization": f"Bearer {key}"})
            with opener.open(request, timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (408, 429) and error.code < 500:
                raise Problem(error.code, problem_of(error)) from None
            reason, retry_after, is_limit = f"status {error.code}", error.headers.get("Retry-After"), error.code == 429
        except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: JSON that broke off.
            reason, is_limit = str(error), False
        if retry_after is None or not is_limit:  # Waiting always helps with a limit.
            failures += 1
            if failures == ATTEMPTS:
                raise SystemExit(f"Cannot read {url.split('?')[0]}: {reason}")
        seconds = float(retry_after) if (retry_after or "").isdigit() else 2 ** (failures - 1) * (0.5 + random.random() / 2)
        print(f"waiting {seconds:.1f} s: {reason}", file=sys.stderr)
        time.sleep(seconds)


def problem_of(error):
    """The members of a problem (RFC 9457); none if the response is not one."""
    try:
        problem = json.load(error)
        return problem if isinstance(problem, dict) else {}
    except ValueError:
        return {}


def pages(base, key, path, cursor=None, **filters):
    """Yields the pages of a list: its items, and the cursor of the next page."""
    while True:
        query = {**filters, "limit": 100, "cursor": cursor}
        given = urllib.parse.urlencode({name: value for name, value in query.items() if value is not None})
        page = get(f"{base}{path}?{given}", key)
        cursor = page["meta"]["next_cursor"] if page["meta"]["has_more"] else None
        yield page["data"], cursor
        if cursor is None:
            return


def sync(base, key, copy):
    """Copies what is new or changed. Returns the number of such records."""
    changed = 0
    since, newest, cursor = copy.execute("select since, newest, cursor from state").fetchone()
    for records, following in pages(base, key, "/opportunities", cursor, updated_since=since):
        refuse_future(records)
        histories = [
            event
            for record in records
            for events, _ in pages(base, key, f"/opportunities/{record['id']}/events", include_insignificant="true")
            for event in events
        ]
        # The first record of the first page is the newest. Records that change during the walk move before it, into the next walk.
        newest = newest or (records[0]["updated_at"] if records else since)
        with copy:  # One transaction.
            copy.executemany("replace into opportunities values (?, ?)", [(each["id"], text_of(each)) for each in records])
            copy.executemany("replace into events values (?, ?, ?)", [(each["id"], each["opportunity_id"], text_of(each)) for each in histories])
            if following is None:
                copy.execute("update state set since = ?, newest = null, cursor = null", [newest])
            else:
                copy.execute("update state set newest = ?, cursor = ?", [newest, following])
        changed += len(records)
        print(f"{changed} new or changed records", file=sys.stderr)
    return changed


def refuse_future(records):
    """With an updated_at in the future as its mark, the copy would see no later change. Two clocks may differ by a minute."""
    latest = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 60))
    for record in records:
        if record["updated_at"] > latest:
            raise SystemExit(f"{record['id']} changed in the future, at {record['updated_at']}; check the clocks of both machines")


def text_of(document):
    return json.dumps(document, separators=(",", ":"))


def main():
    key = os.environ.get("FUNDFEED_KEY", "")  # Not an argument: every user of the machine can read command lines.
    if len(sys.argv) != 3 or key == "":
        raise SystemExit("Usage: FUNDFEED_KEY=... sync.py <base-url> <file>")
    base, path = sys.argv[1:]
    copy = sqlite3.connect(path)
    os.chmod(path, 0o600)  # The records contain names and addresses of people.
    copy.executescript(TABLES)
    try:
        try:
            changed = sync(base, key, copy)
        except Problem as problem:
            if problem.code != "invalid_cursor":
                raise
            with copy:  # The server was restored, and has a new secret for cursors. Start this walk again.
                copy.execute("update state set newest = null, cursor = null")
            changed = sync(base, key, copy)
    except Problem as problem:
        raise SystemExit(f"Cannot sync: {problem}") from None
    count = copy.execute("select count(*) from opportunities").fetchone()[0]
    print(f"{changed} new or changed of {count} records")


main()
