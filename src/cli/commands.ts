/**
 * The table of all commands. It is all that the program needs to print its help and to choose a command. The module of a command is loaded
 * when the command is given. (E-38)
 */
import type { CommandEntry, CommandGroup } from "./command.ts";

/** The heading of the last group. The command `help`, which is not in the table, is listed there, too. */
export const MAINTENANCE = "Maintenance:";

/** By the headings of the help, in its order. */
export const commands: Readonly<Record<string, Readonly<Record<string, CommandEntry | CommandGroup>>>> = {
  "Serve:": {
    demo: {
      about: "Serve a bundled sample of real opportunities from a temporary directory, and print a key and commands to paste",
      mode: "nothing",
      load: async () => (await import("./commands/demo.ts")).demoCommand,
    },
    serve: {
      about: "Serve the API; SIGTERM or SIGINT stops it after the requests under way",
      mode: "create",
      load: async () => (await import("./commands/serve.ts")).serveCommand,
    },
    health: {
      about: "Check that a running server responds; exit with 1 if it does not (for container health checks)",
      mode: "nothing",
      load: async () => (await import("./commands/health.ts")).healthCommand,
    },
    openapi: {
      about: "Print the OpenAPI document",
      mode: "nothing",
      load: async () => (await import("./commands/openapi.ts")).openapiCommand,
    },
  },
  "Import:": {
    import: {
      about: "Import files of one format; every difference from the stored records becomes an event",
      args: "<format> <file...>",
      mode: "create",
      load: async () => (await import("./commands/import.ts")).importCommand,
    },
    pull: {
      about: "Download what an upstream publishes, and import it",
      args: "<source>",
      mode: "create",
      load: async () => (await import("./commands/pull.ts")).pullCommand,
    },
    refresh: {
      about: "Turn every status whose date has passed; a running server does this on its own",
      mode: "change",
      load: async () => (await import("./commands/refresh.ts")).refreshCommand,
    },
    redact: {
      about: "Erase contacts, which are personal data, from stored records and their whole history",
      mode: "change",
      load: async () => (await import("./commands/redact.ts")).redactCommand,
    },
  },
  "Search:": {
    find: {
      about: "Find opportunities by words and filters",
      args: "[words...]",
      mode: "read",
      load: async () => (await import("./commands/find.ts")).findCommand,
    },
    show: {
      about: "Show one opportunity as a page of text, with its history in words",
      args: "<id>",
      mode: "read",
      load: async () => (await import("./commands/show.ts")).showCommand,
    },
    changes: {
      about: "Show what changed: the events of all opportunities, in the order of detection",
      mode: "read",
      load: async () => (await import("./commands/changes.ts")).changesCommand,
    },
    watch: {
      about: "Saved searches whose changes are delivered: by mail, to Slack, webhooks and programs",
      members: {
        add: {
          about: "Save a search, and where messages about its changes go",
          args: "<name> [words...]",
          mode: "change",
          load: async () => (await import("./commands/watch-add.ts")).addCommand,
        },
        set: {
          about: "Change filters, receiver or options of a watch; it continues where it was",
          args: "<name> [words...]",
          mode: "change",
          load: async () => (await import("./commands/watch-set.ts")).setCommand,
        },
        list: {
          about: "List all watches and how their deliveries go",
          mode: "read",
          load: async () => (await import("./commands/watch.ts")).listCommand,
        },
        show: {
          about: "Show a watch: what it is about, and how its deliveries go",
          args: "<name>",
          mode: "read",
          load: async () => (await import("./commands/watch.ts")).showCommand,
        },
        remove: {
          about: "Remove a watch and its undelivered message",
          args: "<name>",
          mode: "change",
          load: async () => (await import("./commands/watch.ts")).removeCommand,
        },
        test: {
          about: "Send a test message with up to three opportunities; the watch stays where it is",
          args: "<name>",
          mode: "change",
          load: async () => (await import("./commands/watch.ts")).testCommand,
        },
        run: {
          about: "Deliver what is new, what has changed and what no longer matches",
          args: "[names...]",
          mode: "change",
          load: async () => (await import("./commands/watch-run.ts")).runCommand,
        },
        deliveries: {
          about: "List messages: the one on its way, and those that were accepted, the newest first",
          args: "[name]",
          mode: "read",
          load: async () => (await import("./commands/watch.ts")).deliveriesCommand,
        },
        resume: {
          about: "End a pause, and send the message on its way at the next run",
          args: "<name>",
          mode: "change",
          load: async () => (await import("./commands/watch.ts")).resumeCommand,
        },
      },
    },
    browse: {
      about: "Show opportunities and what changed in a web browser; SIGTERM or SIGINT stops it",
      mode: "read",
      load: async () => (await import("./commands/browse.ts")).browseCommand,
    },
    mcp: {
      about: "Serve the data to AI agents on standard input and output, as an MCP server",
      mode: "read",
      load: async () => (await import("./commands/mcp.ts")).mcpCommand,
    },
  },
  "Export:": {
    export: {
      about: "Print all records as NDJSON; `import records` turns it into the same opportunities in an empty data directory",
      args: "[file]",
      mode: "read",
      load: async () => (await import("./commands/export.ts")).exportCommand,
    },
    mirror: {
      about: "Keep a copy of a server's records up to date through its API",
      args: "<base-url>",
      mode: "nothing",
      load: async () => (await import("./commands/mirror.ts")).mirrorCommand,
    },
  },
  "Provenance:": {
    imports: {
      about: "Show the import log",
      members: {
        list: {
          about: "List imports with their files, times and counts, newest first",
          mode: "read",
          load: async () => (await import("./commands/imports.ts")).listCommand,
        },
      },
    },
    explain: {
      about: "Explain an event: the record before and after, the rule, and the import that brought the change",
      args: "<event-id>",
      mode: "read",
      load: async () => (await import("./commands/explain.ts")).explainCommand,
    },
    sources: {
      about: "Manage named sources, and show how fresh each source is",
      members: {
        list: {
          about: "List the named sources",
          mode: "read",
          load: async () => (await import("./commands/sources.ts")).listCommand,
        },
        status: {
          about: "Show each source's records, how fresh it is, and whether it has gone silent",
          mode: "read",
          load: async () => (await import("./commands/sources.ts")).statusCommand,
        },
        probe: {
          about: "Check that the upstreams of pull still publish what is read",
          args: "[source]",
          mode: "nothing",
          load: async () => (await import("./commands/probe.ts")).probeCommand,
        },
        add: {
          about: "Name a source, or change its name and description",
          args: "<code>",
          mode: "create",
          load: async () => (await import("./commands/sources.ts")).addCommand,
        },
        remove: {
          about: "Remove a source's name; its records stay and count as OTHER",
          args: "<code>",
          mode: "change",
          load: async () => (await import("./commands/sources.ts")).removeCommand,
        },
      },
    },
  },
  "Access:": {
    plans: {
      about: "Manage plans: requests per day and per minute",
      members: {
        list: {
          about: "List plans and their quotas",
          mode: "read",
          load: async () => (await import("./commands/plans.ts")).listCommand,
        },
        set: {
          about: "Change a plan's quotas, which a running server applies at once, or create a plan with both quotas",
          args: "<name>",
          mode: "create",
          load: async () => (await import("./commands/plans.ts")).setCommand,
        },
      },
    },
    accounts: {
      about: "Manage accounts",
      members: {
        list: {
          about: "List accounts with their plans and subscriptions",
          mode: "read",
          load: async () => (await import("./commands/accounts.ts")).listCommand,
        },
        create: {
          about: "Create an account with an active subscription",
          args: "<name>",
          mode: "create",
          load: async () => (await import("./commands/accounts.ts")).createCommand,
        },
        set: {
          about: "Change an account's plan or subscription; a running server applies it at once",
          args: "<name>",
          mode: "change",
          load: async () => (await import("./commands/accounts.ts")).setCommand,
        },
      },
    },
    keys: {
      about: "Manage API keys",
      members: {
        list: {
          about: "List keys with their use; a key itself is never shown",
          mode: "read",
          load: async () => (await import("./commands/keys.ts")).listCommand,
        },
        create: {
          about: "Create a key and print it on standard output; it cannot be shown again",
          mode: "create",
          load: async () => (await import("./commands/keys.ts")).createCommand,
        },
        rotate: {
          about: "Replace a key by a new one and print that; the old key stays valid for a while",
          args: "<id>",
          mode: "change",
          load: async () => (await import("./commands/keys.ts")).rotateCommand,
        },
        revoke: {
          about: "Revoke a key permanently; a running server refuses it at once",
          args: "<id>",
          mode: "change",
          load: async () => (await import("./commands/keys.ts")).revokeCommand,
        },
        usage: {
          about: "Show the requests of each key and UTC day; those of the last second may be missing",
          args: "[id]",
          mode: "read",
          load: async () => (await import("./commands/keys.ts")).usageCommand,
        },
      },
    },
  },
  [MAINTENANCE]: {
    backup: {
      about: "Copy the databases and the watches while a server runs; the copy is consistent, checked and usable as --data",
      args: "<dir>",
      mode: "inspect",
      load: async () => (await import("./commands/backup.ts")).backupCommand,
    },
    restore: {
      about: "Replace the databases with a backup; refused while a server or an import has them open",
      args: "<dir>",
      mode: "create",
      load: async () => (await import("./commands/backup.ts")).restoreCommand,
    },
    copy: {
      about: "Copy everything from files to PostgreSQL, back, or between PostgreSQL databases; servers may use the source meanwhile",
      args: "<to>",
      mode: "read",
      load: async () => (await import("./commands/copy.ts")).copyCommand,
    },
    check: {
      about:
        "Check the databases and every rule that their records must follow, without changing anything; exit with 1 if there are problems",
      mode: "inspect",
      load: async () => (await import("./commands/check.ts")).checkCommand,
    },
    completion: {
      about: "Print a script by which bash, zsh or fish complete commands, options and values",
      args: "[shell]",
      mode: "nothing",
      load: async () => (await import("./commands/completion.ts")).completionCommand,
    },
    man: {
      about: "Print the manual page, with all commands and options",
      mode: "nothing",
      load: async () => (await import("./commands/man.ts")).manCommand,
    },
    version: {
      about: "Print the versions of fundfeed, its commit and schemas, Bun and SQLite",
      mode: "nothing",
      load: async () => (await import("./commands/version.ts")).versionCommand,
    },
  },
};
