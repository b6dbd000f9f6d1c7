DROP INDEX "fundfeed_catalog"."facets_values";--> statement-breakpoint
DROP INDEX "fundfeed_catalog"."opportunities_natural_key";--> statement-breakpoint
DROP INDEX "fundfeed_catalog"."events_order";--> statement-breakpoint
DROP INDEX "fundfeed_catalog"."opportunities_link";--> statement-breakpoint
CREATE INDEX "facets_agency" ON "fundfeed_catalog"."facets" USING hash ("agency");--> statement-breakpoint
CREATE INDEX "opportunities_lineage" ON "fundfeed_catalog"."opportunities" USING hash ("lineage");--> statement-breakpoint
CREATE INDEX "events_order" ON "fundfeed_catalog"."events" USING btree ("opportunity_seq","detected_at","id");--> statement-breakpoint
CREATE INDEX "opportunities_link" ON "fundfeed_catalog"."opportunities" USING hash ("link_key") WHERE link_key is not null;