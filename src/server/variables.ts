/** The environment variables of all commands. A mistyped one would otherwise do nothing, without a word. */
import { CHILD_VARIABLE } from "../runtime/supervise.ts";
import { didYouMean } from "../text/closest.ts";

const PREFIX = "FUNDFEED_";

/** Without the prefix, as docs/reference/settings.md lists them. */
export const variableNames = `
  BACKUPS BACKUP_EVERY BASE_URL BROWSE_HOST BROWSE_PORT CONTACT DARPA_URL DATA DATABASE DSIP_URL GRANTS_GOV_DETAILS_URL
  GRANTS_GOV_SEARCH_URL GRANTS_GOV_URL HEALTH_URL HOST KEY LOG_FORMAT LOG_LEVEL MAIL_FROM MEMBERS MEMBER_HOSTS METRICS_HOST METRICS_PORT
  NASA_NSPIRES_URL NASA_ROSES_URL PAGES PAGES_URL PORT PULL QUOTAS QUOTA_SHARE READ_DATABASE REDACT_CONTACTS SAM_GOV_API_URL SAM_GOV_KEY
  SAM_GOV_URL SBIR_GOV_SITE_URL SBIR_GOV_URL SEARCH_DATA SIMPLER_GRANTS_GOV_URL SIMPLER_KEY SLACK_URL SMTP_URL TEAMS_URL TLS_CERT TLS_KEY
  WATCH_DATA WATCH_EVERY WATCH_METRICS_FILE WEBHOOK_SECRET
`
  .trim()
  .split(/\s+/);

/** A sentence for each variable with our prefix that is no setting. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = [...variableNames.map((name) => PREFIX + name), CHILD_VARIABLE];
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .sort()
    .map((name) => `${name} is no setting${didYouMean(name, known)}; only a watch may name it`);
}
