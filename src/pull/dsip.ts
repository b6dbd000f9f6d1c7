/** The DoD SBIR/STTR portal: open and pre-release topics, each with its details and published questions. */
import { Failure } from "../../db/reason.ts";
import { type JsonObject, objectOf, objectsOf, textOf } from "../text/json-value.ts";
import { type PagedSearch, savePages } from "./pages.ts";
import { type Fetched, jsonAt, readJson, saveDetailsFile, type Visit } from "./visit.ts";

const STATUSES = ["Open", "Pre-Release"];
const NO_STATUSES = "INACTIVE,READY_FOR_RELEASE,READY_TO_CERTIFY,READY_TO_REVIEW,REVISION_REQUESTED";

export async function fetchDsip(visit: Visit): Promise<Fetched> {
  const { files, records } = await savePages(visit, await topicSearch(visit));
  return { files: [...files, await saveDetailsFile(visit, detailsOf(visit, [...records]))] };
}

export async function topicSearch(visit: Visit): Promise<PagedSearch> {
  const statuses = await releaseStatuses(visit);
  return {
    name: "topics",
    request: (size, _, page) => jsonAt(visit, `topics/api/public/topics/search?${searchQuery(statuses, size, page)}`),
    size: 50,
    read: (response) => {
      const { data, total } = objectOf(response);
      return { records: data, total };
    },
    id: ({ topicId }) => topicId,
  };
}

async function releaseStatuses(visit: Visit): Promise<number[]> {
  const path = `core/api/public/dropdown/lookup?type=topics.release_status&excludeLookupItem=${NO_STATUSES}`;
  const { value } = await readJson(visit, jsonAt(visit, path));
  const wanted = objectsOf(value).filter(({ label }) => STATUSES.includes(textOf(label)));
  if (wanted.length !== STATUSES.length)
    throw new Failure(`Cannot use the response of ${visit.base.host}: it has no statuses ${STATUSES.join(" and ")}`);
  return wanted.map((status) => Number(textOf(status.value)));
}

/** Every key is required. The portal ignores other queries and then returns all topics since 1983. */
function searchQuery(topicReleaseStatus: readonly number[], size: number, page: number): URLSearchParams {
  const searchParam = {
    searchText: null,
    components: null,
    programYear: null,
    solicitationCycleNames: ["openTopics"],
    releaseNumbers: [],
    topicReleaseStatus,
    modernizationPriorities: [],
    sortBy: "finalTopicCode,asc",
    technologyAreaIds: [],
    component: null,
    program: null,
  };
  return new URLSearchParams({ searchParam: JSON.stringify(searchParam), size: `${size}`, page: `${page}` });
}

/** A response of questions does not name its topic, so they are added to its details. */
async function* detailsOf(visit: Visit, topics: readonly (readonly [string, JsonObject])[]): AsyncIterable<string> {
  visit.planned = visit.requests + topics.length + topics.filter(([, topic]) => hasQuestions(topic)).length;
  for (const [id, topic] of topics) {
    const { details, questions } = await readDetails(visit, id, topic);
    yield JSON.stringify({ ...details, questions });
  }
}

/** The details of a topic and its published questions. */
export async function readDetails(visit: Visit, id: string, topic: JsonObject): Promise<{ details: JsonObject; questions: unknown[] }> {
  const path = `topics/api/public/topics/${encodeURIComponent(id)}`;
  const { value: details } = await readJson(visit, jsonAt(visit, `${path}/details`));
  if (textOf(objectOf(details).topicId) !== id)
    throw new Failure(`Cannot use the response of ${visit.base.host}: it is not the topic ${id}`);
  const { value: questions } = hasQuestions(topic) ? await readJson(visit, jsonAt(visit, `${path}/questions`)) : { value: [] };
  if (!Array.isArray(questions))
    throw new Failure(`Cannot use the response of ${visit.base.host}: it has no list of questions for topic ${id}`);
  return { details: objectOf(details), questions };
}

/** Whether a topic of the search has published questions. */
export function hasQuestions({ noOfPublishedQuestions }: JsonObject): boolean {
  return Number(textOf(noOfPublishedQuestions)) > 0;
}
