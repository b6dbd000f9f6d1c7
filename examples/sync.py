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
import queue
import random
import re
import sqlite3
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

TABLES = """
create table if not exists opportunities (id text primary key, document text not null);
create table if not exists events (id text primary key, opportunity_id text not null, document text not null);
-- since: the newest updated_at of the last complete walk. While a walk is under way: its newest updated_at, and the cursor of the next page.
-- events: the cursor after which events are read that were stored without a change of their record.
create table if not exists state (only integer primary key check (only = 1), since text, newest text, cursor text, events text);
insert or ignore into state values (1, null, null, null, null);
"""
ATTEMPTS = 6
# Of a whole response, and the longest wait that a server may ask for, in seconds.
BYTES_MAX, SECONDS_MAX, WAIT_MAX = 64 * 1024**2, 60, 86_400


class Problem(Exception):
    """The server returned an error that another attempt would not change."""

    def __init__(self, status, problem, key):
        self.status, self.code = status, problem.get("code")
        said = f"{status} {self.code or ''} {problem.get('detail', '')} (request {problem.get('request_id', 'without id')})"
        super().__init__(shown(said, key))


class AnyStatus(urllib.request.HTTPErrorProcessor):
    """Returns each response as it is, redirects too: the key must go to no other address."""

    def http_response(self, _, response):
        return response

    https_response = http_response


opener = urllib.request.build_opener(AnyStatus)


def get(url, key):
    """Sends a request. Waits as long as a 429 requires, and retries temporary failures. Returns the parsed response."""
    request = urllib.request.Request(url, headers={"Accept": "application/json", "Authorization": f"Bearer {key}"})
    failures = 0
    while True:
        status, wait = None, None
        try:
            status, retry_after, body = fetch(request)
            reason = f"status {status}"
            if re.fullmatch("[0-9]{1,9}", retry_after):
                wait = int(retry_after)
            if len(body) > BYTES_MAX:
                raise SystemExit(f"Cannot read {url.split('?')[0]}: the response has more than {BYTES_MAX} bytes")
            if status == 200:
                return json.loads(body)
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:  # ValueError: JSON that broke off.
            reason = shown(error, key)
        if status not in (None, 200, 408, 429) and status < 500:
            raise Problem(status, problem_of(body), key)
        if status != 429 or wait is None:  # Waiting always helps with a limit.
            failures += 1
            if failures == ATTEMPTS:
                raise SystemExit(f"Cannot read {url.split('?')[0]}: {reason}")
        if wait is not None and wait > WAIT_MAX:
            raise SystemExit(f"Cannot read {url.split('?')[0]}: {reason}, and asked to wait {wait} s")
        seconds = 2 ** (failures - 1) * (0.5 + random.random() / 2) if wait is None else wait + random.random()
        print(f"waiting {seconds:.1f} s: {reason}", file=sys.stderr)
        time.sleep(seconds)


def fetch(request):
    """Returns status, Retry-After and body. Reads in a thread: the time limit of a socket is for each piece, not for the whole response."""
    results = queue.SimpleQueue()

    def read():
        try:
            with opener.open(request, timeout=SECONDS_MAX) as response:
                results.put((response.status, response.headers.get("Retry-After", ""), response.read(BYTES_MAX + 1)))
        except Exception as error:
            results.put(error)

    threading.Thread(target=read, daemon=True).start()
    try:
        result = results.get(timeout=SECONDS_MAX)
    except queue.Empty:
        raise TimeoutError(f"no whole response within {SECONDS_MAX} s") from None
    if isinstance(result, Exception):
        raise result
    return result


def shown(text, key):
    """Text of others for a message: without the key, which a server may repeat, on one line, and not too long."""
    return "".join(each if each.isprintable() else " " for each in str(text).replace(key, "…"))[:500]


def problem_of(body):
    """The members of a problem (RFC 9457); none if the response is not one."""
    try:
        problem = json.loads(body)
        return problem if isinstance(problem, dict) else {}
    except (ValueError, RecursionError):
        return {}


def pages(base, key, path, cursor=None, **filters):
    """Yields the pages of a list: its items, and the cursor of the next page."""
    while True:
        query = {**filters, "limit": 100, "cursor": cursor}
        given = urllib.parse.urlencode({name: value for name, value in query.items() if value is not None})
        page = get(f"{base}{path}?{given}", key)
        before, cursor = cursor, page["meta"]["next_cursor"]
        if not page["meta"]["has_more"]:
            yield page["data"], None
            return
        if cursor in (None, before) or not page["data"]:  # Taken for the end, it would lose the rest.
            raise SystemExit(f"Cannot read {base}{path}: the server does not say where the list continues")
        yield page["data"], cursor


def get_events(base, key, **query):
    """Returns a page of /events.json, which `fundfeed up` has beside /v1; None if it is not there, as on `fundfeed serve`."""
    given = urllib.parse.urlencode({name: value for name, value in query.items() if value is not None})
    try:
        return get(f"{base.removesuffix('/v1')}/events.json?{given}", key)
    except Problem as problem:
        if problem.status == 400:
            raise
        return None


def histories_of(base, key, ids, is_bulk):
    """Yields all events of these records: in few requests if the server can, else with one for each record."""
    if is_bulk:
        after = None
        while True:
            page = get_events(base, key, opportunity=",".join(ids), after=after)
            yield from page["data"]
            after = page["meta"]["next_cursor"]
            if not page["meta"]["has_more"]:
                return
    for each in ids:
        for events, _ in pages(base, key, f"/opportunities/{each}/events", include_insignificant="true"):
            yield from events


def save_events(copy, events):
    """Saves events of records that the copy has. Other records come later, with all their events."""
    rows = [(each["id"], each["opportunity_id"], text_of(each), each["opportunity_id"]) for each in events]
    copy.executemany("replace into events select ?, ?, ? from opportunities where id = ?", rows)


def sync_events(base, key, copy, after):
    """Copies the events that were stored after a cursor."""
    while True:
        try:
            page = get_events(base, key, after=after)
        except Problem:
            if after is None:
                raise
            after = None  # The server was restored, and no longer has the event at the cursor: read all events once.
            continue
        if page["meta"]["has_more"] and not page["data"]:
            raise SystemExit("Cannot read /events.json: the server does not say where the list continues")
        refuse_future(page["data"], "detected_at")
        after = page["meta"]["next_cursor"]
        with copy:
            save_events(copy, page["data"])
            copy.execute("update state set events = ?", [after])
        if not page["meta"]["has_more"]:
            return


def sync(base, key, copy):
    """Copies what is new or changed. Returns the number of such records."""
    changed = 0
    since, newest, cursor, events = copy.execute("select since, newest, cursor, events from state").fetchone()
    latest = get_events(base, key, after="latest")
    if latest is not None and since is None and cursor is None and events is None:
        events = latest["meta"]["next_cursor"]  # What is stored from now on may belong to records that were read already.
    for records, following in pages(base, key, "/opportunities", cursor, updated_since=since):
        refuse_future(records)
        histories = list(histories_of(base, key, [each["id"] for each in records], latest is not None)) if records else []
        # The first record of the first page is the newest. Records that change during the walk move before it, into the next walk.
        newest = newest or (records[0]["updated_at"] if records else since)
        with copy:  # One transaction.
            copy.executemany("replace into opportunities values (?, ?)", [(each["id"], text_of(each)) for each in records])
            save_events(copy, histories)
            if following is None:
                copy.execute("update state set since = ?, newest = null, cursor = null, events = ?", [newest, events])
            else:
                copy.execute("update state set newest = ?, cursor = ?, events = ?", [newest, following, events])
        changed += len(records)
        print(f"{changed} new or changed records", file=sys.stderr)
    if latest is not None and latest["meta"]["next_cursor"] != events:
        sync_events(base, key, copy, events)
    return changed


def refuse_future(records, name="updated_at"):
    """With an updated_at in the future as its mark, the copy would see no later change. Two clocks may differ by a minute."""
    latest = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 60))
    for record in records:
        if record[name] > latest:
            raise SystemExit(f"{record['id']} changed in the future, at {record[name]}; check the clocks of both machines")


def text_of(document):
    return json.dumps(document, separators=(",", ":"))


def main():
    key = os.environ.get("FUNDFEED_KEY", "")  # Not an argument: every user of the machine can read command lines.
    if len(sys.argv) != 3 or key == "":
        raise SystemExit("Usage: FUNDFEED_KEY=... sync.py <base-url> <file>")
    if not re.fullmatch("[!-~]+", key):  # Python's own message would repeat it.
        raise SystemExit("FUNDFEED_KEY has characters that no key has")
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
