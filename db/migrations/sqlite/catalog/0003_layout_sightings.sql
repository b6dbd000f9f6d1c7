CREATE TABLE `layout_sightings` (
	`opportunity_seq` integer NOT NULL,
	`layout` text NOT NULL,
	`seen_at` integer NOT NULL,
	`missed_at` integer,
	PRIMARY KEY(`opportunity_seq`, `layout`)
);
