CREATE TABLE `readings` (
	`opportunity_seq` integer PRIMARY KEY NOT NULL,
	`digest` blob NOT NULL
);
