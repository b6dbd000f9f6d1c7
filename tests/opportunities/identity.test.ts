/** D-30: ids are the same in every installation, also when a catalog is built again. */
import { expect, test } from "bun:test";
import { opportunityId } from "../../src/opportunities/identity.ts";

test.each([
  ["GRANTS_GOV", "199999", "faa02f0e-2bb2-5377-8227-461e1160b327"],
  ["grants_gov", "199999", "faa02f0e-2bb2-5377-8227-461e1160b327"],
  ["DSIP", "Straße 漢 😀", "34e702ec-497e-5a0b-ac0c-b680e29f066c"],
])("opportunityId() of %s %s", (source, lineage, id) => {
  expect(opportunityId(source, lineage)).toBe(id);
});
