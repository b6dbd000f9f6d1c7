/** `commands` is what the help shows. `modules` names the file of each, so that a start loads only that of the given command. */
import type { CommandEntry, CommandGroup, LoadCommands } from "./command.ts";

/** By the headings of the help, in its order. Only commands that can fill an empty catalog create one: a typo in `--data` must not. */
export const commands: Readonly<Record<string, Readonly<Record<string, CommandEntry | CommandGroup>>>> = {
  "Serve:": {
    demo: {
      about: "Serve a bundled sample of real opportunities from a temporary directory, and print a key and commands to paste",
      mode: "nothing",
    },
    up: {
      about: "Serve the API and the pages on one address, pull the sources, deliver watches and back up; SIGTERM or SIGINT stops it",
      mode: "create",
    },
    status: {
      about: "Show how the jobs of `up` went and when they run next; exit with 1 if one failed, or if `up` does not run",
      mode: "read",
    },
    serve: { about: "Serve the API; SIGTERM or SIGINT stops it after the requests under way", mode: "create" },
    health: { about: "Check that a running server responds; exit with 1 if it does not (for container health checks)", mode: "nothing" },
    openapi: { about: "Print the OpenAPI document", mode: "nothing" },
  },
  "Import:": {
    import: {
      about: "Import files of one format; every difference from the stored records becomes an event",
      args: "<format> <file...>",
      mode: "create",
    },
    pull: { about: "Download what an upstream publishes, and import it", args: "<upstream>", mode: "create" },
    refresh: { about: "Turn every status whose date has passed; a running server does this on its own", mode: "change" },
    redact: { about: "Erase contacts, which are personal data, from stored records and their whole history", mode: "change" },
  },
  "Search:": {
    find: { about: "Find opportunities by words and filters", args: "[words...]", mode: "read" },
    show: { about: "Show one opportunity as a page of text, with its history in words", args: "<id>", mode: "read" },
    similar: { about: "Find opportunities like one, and earlier and later rounds of the same call", args: "<id>", mode: "read" },
    changes: { about: "Show what changed: the events of all opportunities, in the order of detection", mode: "read" },
    diff: { about: "Show what was added, removed and changed between two moments, net", args: "<from> [to]", mode: "read" },
    watch: {
      about: "Saved searches whose changes are delivered: by mail, to Slack, webhooks and programs",
      members: {
        add: { about: "Save a search, and where messages about its changes go", args: "<name> [words...]", mode: "change" },
        set: {
          about: "Change filters, receiver or options of a watch; it continues where it was",
          args: "<name> [words...]",
          mode: "change",
        },
        list: { about: "List all watches and how their deliveries go", mode: "read" },
        show: { about: "Show a watch: what it is about, and how its deliveries go", args: "<name>", mode: "read" },
        check: { about: "Show what the next run adds to a watch and takes from it, and send nothing", args: "[name]", mode: "read" },
        remove: { about: "Remove a watch and its undelivered message", args: "<name>", mode: "change" },
        test: { about: "Send a test message with up to three opportunities; the watch stays where it is", args: "<name>", mode: "change" },
        run: { about: "Deliver what is new, what has changed and what no longer matches", args: "[names...]", mode: "change" },
        deliveries: {
          about: "List messages: the one on its way, and those that were accepted, the newest first",
          args: "[name]",
          mode: "read",
        },
        mute: { about: "Leave one opportunity out of messages, until unmute", args: "<id> [names...]", mode: "change" },
        unmute: { about: "Report an opportunity again, and say how many changes were skipped", args: "<id> [names...]", mode: "change" },
        resume: { about: "End a pause, and send the message on its way at the next run", args: "<name>", mode: "change" },
      },
    },
    browse: { about: "Show opportunities and what changed in a web browser; SIGTERM or SIGINT stops it", mode: "read" },
    mcp: { about: "Serve the data to AI agents on standard input and output, as an MCP server", mode: "read" },
  },
  "Export:": {
    export: {
      about: "Print all records as NDJSON; `import records` turns it into the same opportunities in an empty data directory",
      args: "[file]",
      mode: "read",
    },
    mirror: { about: "Keep a copy of a server's records up to date through its API", args: "<base-url>", mode: "nothing" },
  },
  "Provenance:": {
    imports: {
      about: "Show the import log",
      members: { list: { about: "List imports with their files, times and counts, newest first", mode: "read" } },
    },
    explain: {
      about: "Explain an event: the record before and after, the rule, and the import that brought the change",
      args: "<event-id>",
      mode: "read",
    },
    quality: {
      about: "Report for each source which fields are filled, which values cannot be, and what the last import made worse",
      mode: "read",
    },
    sources: {
      about: "Manage named sources, and show how fresh each source is",
      members: {
        list: { about: "List the named sources", mode: "read" },
        status: { about: "Show each source's records, how fresh it is, and whether it has gone silent", mode: "read" },
        add: { about: "Name a source, or change its name and description", args: "<code>", mode: "create" },
        remove: { about: "Remove a source's name; its records stay and count as OTHER", args: "<code>", mode: "change" },
      },
    },
  },
  "Access:": {
    members: {
      about: "Manage members: people who sign in on the pages with a mail address, and have watches of their own",
      members: {
        add: { about: "Allow addresses and domains to sign in", args: "<entries...>", mode: "create" },
        list: { about: "List what is allowed, and who has signed in", mode: "read" },
        remove: {
          about: "End what is allowed: sessions, feeds and watches of these members end at once, and their addresses are erased",
          args: "<entries...>",
          mode: "change",
        },
      },
    },
    plans: {
      about: "Manage plans: requests per day and per minute",
      members: {
        list: { about: "List plans and their quotas", mode: "read" },
        set: {
          about: "Change a plan's quotas, which a running server applies at once, or create a plan with both quotas",
          args: "<name>",
          mode: "create",
        },
      },
    },
    accounts: {
      about: "Manage accounts",
      members: {
        list: { about: "List accounts with their plans and subscriptions", mode: "read" },
        create: { about: "Create an account with an active subscription", args: "<name>", mode: "create" },
        set: { about: "Change an account's plan or subscription; a running server applies it at once", args: "<name>", mode: "change" },
      },
    },
    keys: {
      about: "Manage API keys",
      members: {
        list: { about: "List keys with their use; a key itself is never shown", mode: "read" },
        create: { about: "Create a key and print it on standard output; it cannot be shown again", mode: "create" },
        rotate: { about: "Replace a key by a new one and print that; the old key stays valid for a while", args: "<id>", mode: "change" },
        revoke: { about: "Revoke a key permanently; a running server refuses it at once", args: "<id>", mode: "change" },
        usage: { about: "Show the requests of each key and UTC day; those of the last second may be missing", args: "[id]", mode: "read" },
      },
    },
  },
  "Maintenance:": {
    backup: {
      about: "Copy the databases and the watches while a server runs; the copy is consistent, checked and usable as --data",
      args: "<dir>",
      mode: "inspect",
    },
    restore: {
      about: "Replace the databases with a backup; refused while a server or an import has them open",
      args: "<dir>",
      mode: "create",
    },
    copy: {
      about: "Copy everything from files to PostgreSQL, back, or between PostgreSQL databases; servers may use the source meanwhile",
      args: "<to>",
      mode: "read",
    },
    check: {
      about:
        "Check the databases and every rule that their records must follow, without changing anything; exit with 1 if there are problems",
      mode: "inspect",
    },
    report: {
      about:
        "Print what somebody needs who helps with a problem: versions, sizes, counts, the last imports and errors; no secrets, no names",
      mode: "inspect",
    },
    completion: {
      about: "Print a script by which bash, zsh or fish complete commands, options and values",
      args: "[shell] [words...]",
      mode: "nothing",
    },
    help: { about: "Print a page of the manual, such as help find, or the help of a command", args: "[topic...]", mode: "nothing" },
    man: { about: "Print the manual page, with all commands and options", mode: "nothing" },
    version: { about: "Print the versions of fundfeed, its commit and schemas, Bun and SQLite", mode: "nothing" },
  },
};

/** By command; that of a group has all of its members that have no row of their own. */
export const modules: Readonly<Record<string, LoadCommands>> = {
  demo: () => import("./commands/demo.ts"),
  up: () => import("./commands/up.ts"),
  status: () => import("./commands/status.ts"),
  serve: () => import("./commands/serve.ts"),
  health: () => import("./commands/health.ts"),
  openapi: () => import("./commands/openapi.ts"),
  import: () => import("./commands/import.ts"),
  pull: () => import("./commands/pull.ts"),
  refresh: () => import("./commands/refresh.ts"),
  redact: () => import("./commands/redact.ts"),
  find: () => import("./commands/find.ts"),
  show: () => import("./commands/show.ts"),
  similar: () => import("./commands/similar.ts"),
  changes: () => import("./commands/changes.ts"),
  diff: () => import("./commands/diff.ts"),
  watch: () => import("./commands/watch.ts"),
  "watch add": () => import("./commands/watch-save.ts"),
  "watch set": () => import("./commands/watch-save.ts"),
  "watch mute": () => import("./commands/watch-mute.ts"),
  "watch unmute": () => import("./commands/watch-mute.ts"),
  "watch run": () => import("./commands/watch-run.ts"),
  browse: () => import("./commands/browse.ts"),
  mcp: () => import("./commands/mcp.ts"),
  export: () => import("./commands/export.ts"),
  mirror: () => import("./commands/mirror.ts"),
  imports: () => import("./commands/imports.ts"),
  explain: () => import("./commands/explain.ts"),
  quality: () => import("./commands/quality.ts"),
  sources: () => import("./commands/sources.ts"),
  plans: () => import("./commands/plans.ts"),
  accounts: () => import("./commands/accounts.ts"),
  members: () => import("./commands/members.ts"),
  keys: () => import("./commands/keys.ts"),
  backup: () => import("./commands/backup.ts"),
  restore: () => import("./commands/backup.ts"),
  copy: () => import("./commands/copy.ts"),
  check: () => import("./commands/check.ts"),
  report: () => import("./commands/report.ts"),
  completion: () => import("./commands/completion.ts"),
  help: () => import("./commands/help.ts"),
  man: () => import("./commands/man.ts"),
  version: () => import("./commands/version.ts"),
};
