CREATE TABLE `deliveries` (
	`seq` integer PRIMARY KEY NOT NULL,
	`watch` integer NOT NULL,
	`id` text NOT NULL,
	`created_at` integer NOT NULL,
	`delivered_at` integer NOT NULL,
	`attempts` integer NOT NULL,
	`counts` text NOT NULL,
	FOREIGN KEY (`watch`) REFERENCES `watches`(`key`) ON UPDATE cascade ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `deliveries_of_watch` ON `deliveries` (`watch`,`seq`);--> statement-breakpoint
CREATE TABLE `matched` (
	`watch` integer NOT NULL,
	`id` text NOT NULL,
	PRIMARY KEY(`watch`, `id`),
	FOREIGN KEY (`watch`) REFERENCES `watches`(`key`) ON UPDATE cascade ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `muted` (
	`watch` integer NOT NULL,
	`id` text NOT NULL,
	`muted_at` integer NOT NULL,
	PRIMARY KEY(`watch`, `id`),
	FOREIGN KEY (`watch`) REFERENCES `watches`(`key`) ON UPDATE cascade ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `pending` (
	`watch` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`mail` text,
	`created_at` integer NOT NULL,
	`oldest_at` integer NOT NULL,
	`body` text NOT NULL,
	`counts` text NOT NULL,
	`feed_seq` integer,
	`feed_id` text,
	`checked_at` integer NOT NULL,
	`count` integer NOT NULL,
	`at` integer,
	`wait_ms` integer NOT NULL,
	`failing_ms` integer NOT NULL,
	`error` text,
	FOREIGN KEY (`watch`) REFERENCES `watches`(`key`) ON UPDATE cascade ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `pending_matched` (
	`watch` integer NOT NULL,
	`id` text NOT NULL,
	`joins` integer NOT NULL,
	PRIMARY KEY(`watch`, `id`),
	FOREIGN KEY (`watch`) REFERENCES `pending`(`watch`) ON UPDATE cascade ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `pending_reminders` (
	`watch` integer NOT NULL,
	`id` text NOT NULL,
	`due` integer NOT NULL,
	`days` integer NOT NULL,
	PRIMARY KEY(`watch`, `id`, `due`),
	FOREIGN KEY (`watch`) REFERENCES `pending`(`watch`) ON UPDATE cascade ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `reminded` (
	`watch` integer NOT NULL,
	`id` text NOT NULL,
	`due` integer NOT NULL,
	`days` integer NOT NULL,
	PRIMARY KEY(`watch`, `id`, `due`),
	FOREIGN KEY (`watch`) REFERENCES `watches`(`key`) ON UPDATE cascade ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `watches` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`place` integer NOT NULL,
	`created_at` integer NOT NULL,
	`definition` text NOT NULL,
	`owner` text,
	`feed_seq` integer,
	`feed_id` text,
	`checked_at` integer NOT NULL,
	`delivered_at` integer,
	`delivered_total` integer NOT NULL,
	`failed_total` integer NOT NULL,
	`paused` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `watches_by_name` ON `watches` (`name`,`place`);--> statement-breakpoint
CREATE INDEX `watches_by_owner` ON `watches` (`owner`);