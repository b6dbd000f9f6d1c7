CREATE TABLE "fundfeed_catalog"."readings" (
	"opportunity_seq" bigint PRIMARY KEY NOT NULL,
	"digest" "bytea" NOT NULL
);
