CREATE TABLE `counts` (
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`name` text NOT NULL,
	`number` integer NOT NULL,
	PRIMARY KEY(`kind`, `subject`, `name`)
);
--> statement-breakpoint
CREATE TABLE `instants` (
	`source` text NOT NULL,
	`day` text NOT NULL,
	`name` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`source`, `day`, `name`)
);
--> statement-breakpoint
INSERT INTO `counts` SELECT CASE kind WHEN 'total' THEN 'imports' ELSE kind END, subject, name, number FROM `figures` WHERE kind IN ('posted', 'agency', 'total');
--> statement-breakpoint
INSERT INTO `instants` SELECT subject, name, kind, number FROM `figures` WHERE kind IN ('changed', 'imported');
--> statement-breakpoint
INSERT INTO `instants` SELECT subject, '', CASE name WHEN 'finished_at' THEN 'imported' WHEN 'changed_at' THEN 'changed' ELSE name END, number FROM `figures` WHERE kind = 'instant';
--> statement-breakpoint
DROP TABLE `figures`;
