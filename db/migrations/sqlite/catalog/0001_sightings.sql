CREATE TABLE `sightings` (
	`opportunity_seq` integer PRIMARY KEY NOT NULL,
	`source` text NOT NULL,
	`seen_at` integer NOT NULL,
	`missed_at` integer
);
