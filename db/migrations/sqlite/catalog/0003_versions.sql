CREATE TABLE `versions` (
	`source` text NOT NULL,
	`upstream_id` text NOT NULL,
	`opportunity_seq` integer NOT NULL,
	`revision_key` text NOT NULL,
	`series` text NOT NULL,
	`title` text NOT NULL,
	`posted_at` integer,
	PRIMARY KEY(`source`, `upstream_id`)
);
--> statement-breakpoint
CREATE INDEX `versions_of_series` ON `versions` (`source`,`series`);