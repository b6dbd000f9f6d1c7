CREATE TABLE `counting` (
	`id` integer PRIMARY KEY NOT NULL,
	`counted_until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `import_totals` (
	`format` text NOT NULL,
	`name` text NOT NULL,
	`total` integer NOT NULL,
	PRIMARY KEY(`format`, `name`)
);
--> statement-breakpoint
CREATE TABLE `last_imports` (
	`source` text PRIMARY KEY NOT NULL,
	`finished_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `posted_days` (
	`source` text NOT NULL,
	`posted_on` text NOT NULL,
	`records` integer NOT NULL,
	PRIMARY KEY(`source`, `posted_on`)
);
--> statement-breakpoint
ALTER TABLE `facets` ADD `records` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `events_feed` ON `events` (`detected_at`);--> statement-breakpoint
CREATE INDEX `imports_unfinished` ON `imports` (`id`) WHERE finished_at is null;--> statement-breakpoint
UPDATE `facets` SET `records` = `counted`.`records`
FROM (SELECT `facet_id`, count(*) AS `records` FROM `opportunities` GROUP BY `facet_id`) AS `counted`
WHERE `counted`.`facet_id` = `facets`.`id`;
--> statement-breakpoint
INSERT INTO `posted_days` (`source`, `posted_on`, `records`)
SELECT `source`, `day`, count(*)
FROM (
	SELECT `source`, cast(substr(`document`, nullif(instr(`document`, cast('"posted_at":"' AS blob)), 0) + 13, 10) AS text) AS `day`
	FROM `opportunities`
)
WHERE `day` IS NOT NULL GROUP BY `source`, `day`;
--> statement-breakpoint
INSERT INTO `last_imports` (`source`, `finished_at`)
SELECT `codes`.`value`, max(`imports`.`finished_at`)
FROM `imports`, json_each(`imports`.`sources`) AS `codes`
WHERE `imports`.`format` <> 'events' AND `imports`.`finished_at` IS NOT NULL GROUP BY `codes`.`value`;
--> statement-breakpoint
INSERT INTO `counting` (`id`, `counted_until`) SELECT 1, coalesce(max(`updated_at`), 0) FROM `opportunities`;
--> statement-breakpoint
INSERT INTO `import_totals` (`format`, `name`, `total`)
SELECT `imports`.`format`, `counts`.`key`, sum(`counts`.`value`)
FROM `imports`, json_each(`imports`.`counts`) AS `counts`
WHERE `imports`.`finished_at` IS NOT NULL GROUP BY `imports`.`format`, `counts`.`key`;
--> statement-breakpoint
INSERT INTO `import_totals` (`format`, `name`, `total`)
SELECT `format`, 'imports', count(*) FROM `imports` WHERE `finished_at` IS NOT NULL GROUP BY `format`;
