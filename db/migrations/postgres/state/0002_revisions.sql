CREATE TABLE "fundfeed_state"."revisions" (
	"name" text collate "C" PRIMARY KEY NOT NULL,
	"number" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "fundfeed_state"."keys" ADD COLUMN "revision" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "keys_revision" ON "fundfeed_state"."keys" USING btree ("revision");