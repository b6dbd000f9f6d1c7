/** Code that calls an operation, in four languages. It runs on a server, never in a browser, because keys do not belong there. */

export const SAMPLE_ID = "eb7863be-c9fd-5a72-b348-a17b86f00b53";

const queries: Readonly<Record<string, string>> = {
  listOpportunities: "?status=open,closing_soon&program_type=SBIR,GRANT&limit=10",
  listOpportunityEvents: "?include_insignificant=true&limit=10",
};

export type CodeSample = { lang: string; label: string; source: string };

type SampledRequest = { url: string; needsKey: boolean; isJson: boolean };

/** The samples of an operation, for the address of its path on the server. */
export function samplesOf(operationId: string, { url: address, ...kind }: SampledRequest): CodeSample[] {
  const request = { ...kind, url: address.replace("{id}", SAMPLE_ID) + (queries[operationId] ?? "") };
  return [
    { lang: "Shell", label: "curl", source: curl(request) },
    { lang: "TypeScript", label: "TypeScript", source: typeScript(request) },
    { lang: "Python", label: "Python", source: python(request) },
    { lang: "Go", label: "Go", source: go(request) },
  ];
}

function curl({ url, needsKey }: SampledRequest): string {
  const [address = "", query] = url.split("?");
  const lines = [
    query === undefined ? `curl -s ${address}` : `curl -sG ${address}`,
    ...(query?.split("&").map((pair) => `-d ${pair}`) ?? []),
  ];
  return [...lines, ...(needsKey ? ['-H "Authorization: Bearer $FUNDFEED_KEY"'] : [])].join(" \\\n  ");
}

function typeScript({ url, needsKey, isJson }: SampledRequest): string {
  const options = needsKey ? `, {\n  headers: { Authorization: \`Bearer \${process.env.FUNDFEED_KEY}\` },\n}` : "";
  return `const response = await fetch("${url}"${options});
if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`);

console.log(await response.${isJson ? "json" : "text"}());`;
}

function python({ url, needsKey, isJson }: SampledRequest): string {
  const headers = needsKey ? `\n    headers={"Authorization": f"Bearer {os.environ['FUNDFEED_KEY']}"},` : "";
  return `${needsKey ? "import os\n" : ""}import requests

response = requests.get(
    "${url}",${headers}
    timeout=30,
)
response.raise_for_status()
print(response.${isJson ? "json()" : "text"})`;
}

function go({ url, needsKey }: SampledRequest): string {
  const imports = ["fmt", "io", "log", "net/http", ...(needsKey ? ["os"] : [])].map((name) => `\t"${name}"`).join("\n");
  const header = needsKey ? '\n\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("FUNDFEED_KEY"))' : "";
  return `package main

import (
${imports}
)

func main() {
	request, err := http.NewRequest("GET", "${url}", nil)
	if err != nil {
		log.Fatal(err)
	}${header}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Status, string(body))
}`;
}
