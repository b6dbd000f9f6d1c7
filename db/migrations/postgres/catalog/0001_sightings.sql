CREATE TABLE "fundfeed_catalog"."sightings" (
	"opportunity_seq" bigint PRIMARY KEY NOT NULL,
	"source" text collate "C" NOT NULL,
	"seen_at" bigint NOT NULL,
	"missed_at" bigint
);
