CREATE TABLE `revisions` (
	`name` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `keys` ADD `revision` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `keys_revision` ON `keys` (`revision`);