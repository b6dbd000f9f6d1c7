CREATE TABLE "fundfeed_catalog"."versions" (
	"source" text collate "C" NOT NULL,
	"upstream_id" text collate "C" NOT NULL,
	"opportunity_seq" bigint NOT NULL,
	"revision_key" text collate "C" NOT NULL,
	"series" text collate "C" NOT NULL,
	"title" text collate "C" NOT NULL,
	"posted_at" bigint,
	CONSTRAINT "versions_source_upstream_id_pk" PRIMARY KEY("source","upstream_id")
);
--> statement-breakpoint
CREATE INDEX "versions_of_series" ON "fundfeed_catalog"."versions" USING btree ("source","series");