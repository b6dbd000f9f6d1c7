/** The options of a server. */
import type { DatabaseLocation } from "../../db/open.ts";
import type { LogFormat, LogLevel } from "../monitoring/log.ts";

export type ServeOptions = DatabaseLocation & {
  json?: true | undefined;
  host: string;
  port: number;
  baseUrl?: string;
  tlsCert?: string;
  tlsKey?: string;
  metricsHost?: string;
  metricsPort?: number;
  logFormat: LogFormat;
  logLevel?: LogLevel;
  quotas?: string;
  /** Percentage of a key's minute that this server grants while Redis is unavailable. */
  quotaShare?: number;
  readDatabase?: string;
};

export const QUOTA_SHARE_PERCENT = 50;
