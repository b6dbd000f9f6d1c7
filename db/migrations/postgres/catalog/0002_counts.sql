CREATE TABLE "fundfeed_catalog"."counts" (
	"kind" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"number" bigint NOT NULL,
	CONSTRAINT "counts_kind_subject_name_pk" PRIMARY KEY("kind","subject","name")
);
--> statement-breakpoint
CREATE TABLE "fundfeed_catalog"."instants" (
	"source" text collate "C" NOT NULL,
	"day" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "instants_source_day_name_pk" PRIMARY KEY("source","day","name")
);
--> statement-breakpoint
INSERT INTO "fundfeed_catalog"."counts" SELECT CASE kind WHEN 'total' THEN 'imports' ELSE kind END, subject, name, number FROM "fundfeed_catalog"."figures" WHERE kind IN ('posted', 'agency', 'total');
--> statement-breakpoint
INSERT INTO "fundfeed_catalog"."instants" SELECT subject, name, kind, number FROM "fundfeed_catalog"."figures" WHERE kind IN ('changed', 'imported');
--> statement-breakpoint
INSERT INTO "fundfeed_catalog"."instants" SELECT subject, '', CASE name WHEN 'finished_at' THEN 'imported' WHEN 'changed_at' THEN 'changed' ELSE name END, number FROM "fundfeed_catalog"."figures" WHERE kind = 'instant';
--> statement-breakpoint
DROP TABLE "fundfeed_catalog"."figures" CASCADE;
