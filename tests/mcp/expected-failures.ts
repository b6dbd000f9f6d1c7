/**
 * What of the official conformance suite fails, and why. A scenario is listed as a whole if one of its checks fails or warns. The suite calls
 * tools, prompts and resources of a server that is made for it; a server with a purpose of its own does not have them.
 */
type Expected = { because: string; both?: readonly string[]; "2025-11-25"?: readonly string[]; "2026-07-28"?: readonly string[] };

export const expectedFailures: readonly Expected[] = [
  {
    because: "calls a tool of the suite's own server",
    both: [
      "tools-call-simple-text",
      "tools-call-image",
      "tools-call-audio",
      "tools-call-embedded-resource",
      "tools-call-mixed-content",
      "tools-call-error",
      "tools-call-with-progress",
      "json-schema-2020-12",
    ],
    "2026-07-28": ["server-stateless"],
  },
  {
    because: "reads a resource of the suite's own server",
    both: ["resources-read-text", "resources-read-binary", "resources-templates-read"],
  },
  {
    because: "there are no prompts, and so nothing to complete, and no list of them to cache",
    both: [
      "completion-complete",
      "prompts-list",
      "prompts-get-simple",
      "prompts-get-with-args",
      "prompts-get-embedded-resource",
      "prompts-get-with-image",
    ],
    "2026-07-28": ["caching"],
  },
  {
    because: "the server asks its client for nothing: no input, no model, no roots",
    "2025-11-25": ["tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"],
    "2026-07-28": [
      "input-required-result-basic-elicitation",
      "input-required-result-basic-sampling",
      "input-required-result-basic-list-roots",
      "input-required-result-request-state",
      "input-required-result-multiple-input-requests",
      "input-required-result-multi-round",
      "input-required-result-non-tool-request",
      "input-required-result-result-type",
      "input-required-result-tampered-state",
      "input-required-result-capability-check",
      "input-required-result-missing-input-response",
      "input-required-result-ignore-extra-params",
    ],
  },
  {
    because: "the server sends no log to its clients",
    "2025-11-25": ["logging-set-level", "tools-call-with-logging"],
  },
  {
    because: "there are no sessions, and so nobody to tell later that a resource has changed",
    "2025-11-25": ["resources-subscribe", "resources-unsubscribe", "server-sse-multiple-streams"],
  },
];
