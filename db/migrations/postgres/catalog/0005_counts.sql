CREATE TABLE "fundfeed_catalog"."counting" (
	"id" bigint PRIMARY KEY NOT NULL,
	"counted_until" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "fundfeed_catalog"."import_totals" (
	"format" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"total" bigint NOT NULL,
	CONSTRAINT "import_totals_format_name_pk" PRIMARY KEY("format","name")
);
--> statement-breakpoint
CREATE TABLE "fundfeed_catalog"."last_imports" (
	"source" text collate "C" PRIMARY KEY NOT NULL,
	"finished_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "fundfeed_catalog"."posted_days" (
	"source" text collate "C" NOT NULL,
	"posted_on" text collate "C" NOT NULL,
	"records" bigint NOT NULL,
	CONSTRAINT "posted_days_source_posted_on_pk" PRIMARY KEY("source","posted_on")
);
--> statement-breakpoint
ALTER TABLE "fundfeed_catalog"."facets" ADD COLUMN "records" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "events_feed" ON "fundfeed_catalog"."events" USING btree ("detected_at","seq");--> statement-breakpoint
CREATE INDEX "imports_unfinished" ON "fundfeed_catalog"."imports" USING btree ("id") WHERE finished_at is null;--> statement-breakpoint
UPDATE "fundfeed_catalog"."facets" SET "records" = "counted"."records"
FROM (SELECT "facet_id", count(*) AS "records" FROM "fundfeed_catalog"."opportunities" GROUP BY "facet_id") AS "counted"
WHERE "counted"."facet_id" = "facets"."id";
--> statement-breakpoint
INSERT INTO "fundfeed_catalog"."posted_days" ("source", "posted_on", "records")
SELECT "source", "day", count(*)
FROM (
	SELECT "source", encode(substring("document" FROM nullif(position('"posted_at":"'::bytea IN "document"), 0) + 13 FOR 10), 'escape') AS "day"
	FROM "fundfeed_catalog"."opportunities"
) AS "posted"
WHERE "day" IS NOT NULL GROUP BY "source", "day";
--> statement-breakpoint
INSERT INTO "fundfeed_catalog"."last_imports" ("source", "finished_at")
SELECT "codes"."value", max("imports"."finished_at")
FROM "fundfeed_catalog"."imports", jsonb_array_elements_text("imports"."sources"::jsonb) AS "codes" ("value")
WHERE "imports"."format" <> 'events' AND "imports"."finished_at" IS NOT NULL GROUP BY "codes"."value";
--> statement-breakpoint
INSERT INTO "fundfeed_catalog"."counting" ("id", "counted_until")
SELECT 1, coalesce(max("updated_at"), 0) FROM "fundfeed_catalog"."opportunities";
--> statement-breakpoint
INSERT INTO "fundfeed_catalog"."import_totals" ("format", "name", "total")
SELECT "imports"."format", "counts"."key", sum("counts"."value"::bigint)
FROM "fundfeed_catalog"."imports", jsonb_each_text("imports"."counts"::jsonb) AS "counts" ("key", "value")
WHERE "imports"."finished_at" IS NOT NULL GROUP BY "imports"."format", "counts"."key";
--> statement-breakpoint
INSERT INTO "fundfeed_catalog"."import_totals" ("format", "name", "total")
SELECT "format", 'imports', count(*) FROM "fundfeed_catalog"."imports" WHERE "finished_at" IS NOT NULL GROUP BY "format";
