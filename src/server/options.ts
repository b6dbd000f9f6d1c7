/** The options of a server. */
import type { DatabaseLocation } from "../../db/open.ts";
import type { LogFormat, LogLevel } from "../monitoring/log.ts";

/** What `fundfeed serve` is started with. */
export type ServeOptions = DatabaseLocation & {
  /** Print the address as JSON. */
  json?: true | undefined;
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** Public base address, ending in /v1. */
  baseUrl?: string;
  tlsCert?: string;
  tlsKey?: string;
  metricsHost?: string;
  metricsPort?: number;
  logFormat: LogFormat;
  logLevel?: LogLevel;
  /** URL of a Redis. */
  quotas?: string;
  /** Percentage of a key's minute that this server grants while Redis is unavailable. */
  quotaShare?: number;
  /** URL of a replica of `database`, from which the catalog is read. */
  readDatabase?: string;
};

/** Right for two servers. */
export const QUOTA_SHARE_PERCENT = 50;
