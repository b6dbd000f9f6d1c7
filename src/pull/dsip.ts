/** The DoD SBIR/STTR portal: open and pre-release topics, each with its details and published questions. */
import { arrayOf, type JsonObject, objectOf, textOf } from "../text/json-value.ts";
import { savePages } from "./pages.ts";
import { type Fetched, jsonAt, readJson, saveArray, type Visit } from "./visit.ts";

const PAGE_SIZE = 50;
const STATUSES = ["Open", "Pre-Release"];
const NO_STATUSES = "INACTIVE,READY_FOR_RELEASE,READY_TO_CERTIFY,READY_TO_REVIEW,REVISION_REQUESTED";

export async function fetchDsip(visit: Visit): Promise<Fetched> {
  const statuses = await releaseStatuses(visit);
  const { files, records } = await savePages(visit, "topics", {
    request: (_, page) => jsonAt(visit, `topics/api/public/topics/search?${searchQuery(statuses, page)}`),
    read: (response) => {
      const { data, total } = objectOf(response);
      return { records: arrayOf(data), total };
    },
    id: ({ topicId }) => topicId,
  });
  return { files: [...files, await saveArray(visit, "details.json", detailsOf(visit, [...records]))] };
}

/** Asks the portal for the ids of the statuses, because they change over the years. */
async function releaseStatuses(visit: Visit): Promise<number[]> {
  const path = `core/api/public/dropdown/lookup?type=topics.release_status&excludeLookupItem=${NO_STATUSES}`;
  const { value } = await readJson(visit, jsonAt(visit, path));
  const wanted = arrayOf(value)
    .map(objectOf)
    .filter(({ label }) => STATUSES.includes(textOf(label)));
  if (wanted.length !== STATUSES.length)
    throw new Error(`Cannot use the response of ${visit.base.host}: it has no statuses ${STATUSES.join(" and ")}`);
  return wanted.map((status) => Number(textOf(status.value)));
}

/** Every key is required, or the portal fails. It ignores other queries and then returns all topics since 1983. */
function searchQuery(topicReleaseStatus: readonly number[], page: number): URLSearchParams {
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
  return new URLSearchParams({ searchParam: JSON.stringify(searchParam), size: `${PAGE_SIZE}`, page: `${page}` });
}

/** Adds the questions to the details of their topic, because a response of questions does not name the topic. */
async function* detailsOf(visit: Visit, topics: readonly (readonly [string, JsonObject])[]): AsyncIterable<string> {
  visit.planned = visit.requests + topics.length + topics.filter(([, topic]) => hasQuestions(topic)).length;
  for (const [id, topic] of topics) {
    const path = `topics/api/public/topics/${encodeURIComponent(id)}`;
    const { value: details } = await readJson(visit, jsonAt(visit, `${path}/details`));
    if (textOf(objectOf(details).topicId) !== id)
      throw new Error(`Cannot use the response of ${visit.base.host}: it is not the topic ${id}`);
    const { value: questions } = hasQuestions(topic) ? await readJson(visit, jsonAt(visit, `${path}/questions`)) : { value: [] };
    if (!Array.isArray(questions))
      throw new Error(`Cannot use the response of ${visit.base.host}: it has no list of questions for topic ${id}`);
    yield JSON.stringify({ ...objectOf(details), questions });
  }
}

function hasQuestions({ noOfPublishedQuestions }: JsonObject): boolean {
  return Number(textOf(noOfPublishedQuestions)) > 0;
}
