DROP INDEX `events_feed`;--> statement-breakpoint
CREATE INDEX `events_feed` ON `events` (`detected_at`,`seq`,`severity`,`type`);