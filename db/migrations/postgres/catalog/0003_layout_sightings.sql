CREATE TABLE "fundfeed_catalog"."layout_sightings" (
	"opportunity_seq" bigint NOT NULL,
	"layout" text collate "C" NOT NULL,
	"seen_at" bigint NOT NULL,
	"missed_at" bigint,
	CONSTRAINT "layout_sightings_opportunity_seq_layout_pk" PRIMARY KEY("opportunity_seq","layout")
);
