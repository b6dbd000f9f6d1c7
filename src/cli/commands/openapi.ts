/** `fundfeed openapi`: print the OpenAPI document. */
import { openapiDocument } from "../../http/openapi.ts";
import { type CliCommand, publicBaseUrl } from "../command.ts";

export function openapiCommand(command: CliCommand): CliCommand {
  return command
    .setting("--base-url <url>", "public base URL in the document, ending in /v1", publicBaseUrl, "http://127.0.0.1:8080/v1")
    .examples("fundfeed openapi --base-url https://api.example.org/v1 > openapi.json")
    .action((options: { baseUrl: string }) => command.machine.printLine(JSON.stringify(openapiDocument(options.baseUrl), null, 2)));
}
