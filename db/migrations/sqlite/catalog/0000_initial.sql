CREATE TABLE `earlier_sidecars` (
	`opportunity_seq` integer NOT NULL,
	`until` integer NOT NULL,
	`status_basis` text NOT NULL,
	`sidecar` blob NOT NULL,
	PRIMARY KEY(`opportunity_seq`, `until`)
);
--> statement-breakpoint
CREATE TABLE `events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`opportunity_seq` integer NOT NULL,
	`detected_at` integer NOT NULL,
	`type` text NOT NULL,
	`severity` text NOT NULL,
	`origin` text NOT NULL,
	`import_id` integer,
	`imported_at` integer,
	`document` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `events_id_unique` ON `events` (`id`);--> statement-breakpoint
CREATE INDEX `events_order` ON `events` (`opportunity_seq`,`detected_at`,`id`,`type`,`severity`);--> statement-breakpoint
CREATE INDEX `events_feed` ON `events` (`detected_at`,`seq`,`severity`,`type`);--> statement-breakpoint
CREATE TABLE `facets` (
	`id` integer PRIMARY KEY NOT NULL,
	`status` text NOT NULL,
	`source` text NOT NULL,
	`program_type` text NOT NULL,
	`agency` text NOT NULL,
	`records` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `facets_values` ON `facets` (`agency`,`status`,`source`,`program_type`);--> statement-breakpoint
CREATE TABLE `figures` (
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`name` text NOT NULL,
	`number` integer NOT NULL,
	PRIMARY KEY(`kind`, `subject`, `name`)
);
--> statement-breakpoint
CREATE TABLE `imports` (
	`id` integer PRIMARY KEY NOT NULL,
	`format` text NOT NULL,
	`files` text NOT NULL,
	`sources` text NOT NULL,
	`snapshot` integer NOT NULL,
	`as_of` integer,
	`started_at` integer NOT NULL,
	`finished_at` integer,
	`last_instant` integer,
	`counts` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `imports_unfinished` ON `imports` (`id`) WHERE finished_at is null;--> statement-breakpoint
CREATE TABLE `link_keys` (
	`key` text NOT NULL,
	`role` text NOT NULL,
	`newness` integer NOT NULL,
	`opportunity_id` text NOT NULL,
	PRIMARY KEY(`key`, `role`, `newness`, `opportunity_id`)
);
--> statement-breakpoint
CREATE INDEX `link_keys_of_record` ON `link_keys` (`opportunity_id`);--> statement-breakpoint
CREATE TABLE `moved_link_keys` (
	`key` text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `opportunities` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`source` text NOT NULL,
	`lineage` text NOT NULL,
	`source_opportunity_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`stored_at` integer NOT NULL,
	`facet_id` integer NOT NULL,
	`status_basis` text NOT NULL,
	`turns_at` integer,
	`canonical_id` text,
	`parent_id` text,
	`hash` blob NOT NULL,
	`document` blob NOT NULL,
	`sidecar` blob NOT NULL,
	`restored_at` integer,
	`restored_updated_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `opportunities_id_unique` ON `opportunities` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `opportunities_natural_key` ON `opportunities` (`source`,`lineage`);--> statement-breakpoint
CREATE INDEX `opportunities_order` ON `opportunities` (`updated_at`,`id`,`facet_id`);--> statement-breakpoint
CREATE INDEX `opportunities_stored` ON `opportunities` (`stored_at`,`id`);--> statement-breakpoint
CREATE INDEX `opportunities_canonical` ON `opportunities` (`canonical_id`,`id`) WHERE canonical_id is not null;--> statement-breakpoint
CREATE INDEX `opportunities_parent` ON `opportunities` (`parent_id`,`id`) WHERE parent_id is not null;--> statement-breakpoint
CREATE INDEX `opportunities_turning` ON `opportunities` (`turns_at`) WHERE turns_at is not null;--> statement-breakpoint
CREATE TABLE `readings` (
	`opportunity_seq` integer PRIMARY KEY NOT NULL,
	`digest` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sources` (
	`code` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `upstream_ids` (
	`upstream_id` text NOT NULL,
	`source` text NOT NULL,
	`opportunity_seq` integer NOT NULL,
	`since` integer NOT NULL,
	PRIMARY KEY(`upstream_id`, `source`, `opportunity_seq`)
);
--> statement-breakpoint
CREATE INDEX `upstream_ids_of_record` ON `upstream_ids` (`opportunity_seq`);--> statement-breakpoint
CREATE TABLE `versions` (
	`source` text NOT NULL,
	`upstream_id` text NOT NULL,
	`opportunity_seq` integer NOT NULL,
	`revision_key` text NOT NULL,
	`series` text NOT NULL,
	`title` text NOT NULL,
	`posted_at` integer,
	`reading` blob,
	PRIMARY KEY(`source`, `upstream_id`)
);
--> statement-breakpoint
CREATE INDEX `versions_of_series` ON `versions` (`source`,`series`);
--> statement-breakpoint
INSERT INTO `sources` (`code`, `name`, `description`) VALUES
	('CHALLENGE_GOV', 'Challenge.gov', 'Prize competitions and challenges of US federal agencies.'),
	('DARPA', 'DARPA', 'Opportunities of the Defense Advanced Research Projects Agency: solicitations, future programs, requests for information and industry days.'),
	('DSIP', 'DoD SBIR/STTR Innovation Portal', 'SBIR and STTR topics of the Department of Defense, with their questions and answers.'),
	('GRANTS_GOV', 'Grants.gov', 'Grants and cooperative agreements of US federal agencies, forecasts included.'),
	('NASA_NSPIRES', 'NASA NSPIRES', 'Research solicitations of NASA, with their release and due dates.'),
	('NASA_ROSES', 'NASA ROSES', 'The programs of a year of Research Opportunities in Space and Earth Sciences, with the due dates of both steps.'),
	('NSF', 'National Science Foundation', 'Funding programs and Dear Colleague Letters of the National Science Foundation.'),
	('SAM_GOV', 'SAM.gov', 'Contract opportunities of US federal agencies: sources sought, solicitations, awards and other notices.'),
	('SBIR_GOV', 'SBIR.gov', 'SBIR and STTR solicitations and topics of all participating agencies.'),
	('SIMPLER_GRANTS_GOV', 'Simpler.Grants.gov', 'The search export of the new Grants.gov site.');
