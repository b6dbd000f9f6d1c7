// biome-ignore-all lint: written by openapi-typescript.
// biome-ignore-all format: the same.
export interface paths {
    "/meta": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Service name, version, status and clock
         * @description Needs no key and is not counted. Use it as a health check.
         */
        get: operations["getMeta"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Source catalog
         * @description The named sources. Records can have codes that are not in this list; `source=OTHER` finds them.
         */
        get: operations["listSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/opportunities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List opportunities
         * @description Ordered by `updated_at`, newest first, then by `id`, descending. Different filters combine with and, values of one filter with or.
         */
        get: operations["listOpportunities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/opportunities/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One opportunity
         * @description Send the `ETag` that you have as `If-None-Match`. While the record is unchanged, the response is 304 without a body.
         */
        get: operations["getOpportunity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/opportunities/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Change history of one opportunity
         * @description Ordered by `detected_at`, newest first, then by `id`, descending. Events of severity `noise` and `cosmetic` are omitted unless `include_insignificant` is true.
         */
        get: operations["listOpportunityEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This description
         * @description OpenAPI 3.1, generated from the server's routes.
         */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The reference for people
         * @description An HTML page that works without a network and never asks for a key.
         */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        OpportunityPage: {
            data: components["schemas"]["Opportunity"][];
            meta: components["schemas"]["PageMeta"];
            links: components["schemas"]["PageLinks"];
        };
        OpportunityDetail: {
            data: components["schemas"]["Opportunity"];
            meta: components["schemas"]["RequestMeta"];
        };
        Opportunity: {
            /**
             * Format: uuid
             * @description Service identifier, the same in every installation. Not the upstream solicitation number.
             */
            id: string;
            source: components["schemas"]["Source"];
            /** @description Title as published. */
            title: string;
            /** @description A short plain text. */
            summary: string | null;
            /** @description Upstream text. It may contain HTML: sanitize it before rendering. */
            description: string | null;
            /**
             * @description Known values: `forecast`, `pre_release`, `open`, `closing_soon`, `closed`, `awarded`, `cancelled`, `archived`. Unknown values can appear; show them as they are.
             * @example forecast
             * @example pre_release
             * @example open
             * @example closing_soon
             * @example closed
             * @example awarded
             * @example cancelled
             * @example archived
             */
            status: string;
            /** @description The upstream's own word for the status. */
            status_display: string | null;
            organization: components["schemas"]["Organization"];
            program: components["schemas"]["Program"];
            /** @description Null when nothing is stated. */
            funding: components["schemas"]["Funding"] | null;
            dates: components["schemas"]["Dates"];
            classifications: components["schemas"]["Classifications"];
            eligibility: components["schemas"]["Eligibility"];
            /** @description Official points of contact. Personal data. */
            contacts: components["schemas"]["Contact"][];
            /** @description Reserved. Always null: not provided. */
            value_estimate: string | null;
            relationships: components["schemas"]["Relationships"];
            /**
             * Format: date-time
             * @description When the service first stored the record.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the record last changed here. Orders the list and drives `updated_since`.
             */
            updated_at: string;
        };
        Source: {
            /** @description Upstream source code. The set is open-ended: show a code even if the catalog does not list it. */
            code: string;
            /** @description Display name of the source. */
            name: string;
            /** @description Identifier used by the upstream source. */
            opportunity_id: string;
            /** @description The opportunity's page at the upstream source. */
            url: string | null;
        };
        Organization: {
            /** @description Department or independent agency. */
            agency: string | null;
            /** @description Bureau, command or office within the agency. */
            sub_agency: string | null;
            /** @description Office that issued the opportunity. */
            issuing_office: string | null;
        };
        Program: {
            /** @description Known values: `SBIR`, `STTR`, `BAA`, `RFI`, `RFP`, `OTA`, `GRANT`, `CONTRACT`, `PRIZE`, `CSO`, `CRADA`, `INDUSTRY_EVENT`, `OTHER`. */
            type: string | null;
            /** @description Solicitation or opportunity number. */
            solicitation_id: string | null;
            /** @description Title of the solicitation. */
            solicitation_title: string | null;
            /** @description Kind of contract, notice or phase, in the upstream's words. */
            contract_class: string | null;
        };
        Funding: {
            /**
             * @description Always `USD`.
             * @constant
             */
            currency: "USD";
            /** @description Smallest award, a decimal string. */
            amount_min: string | null;
            /** @description Largest award, a decimal string. */
            amount_max: string | null;
            /** @description Funding as text for people. */
            display: string | null;
        };
        Dates: {
            /**
             * Format: date-time
             * @description When the opportunity was published.
             */
            posted_at: string | null;
            /**
             * Format: date-time
             * @description When submissions open.
             */
            opens_at: string | null;
            /**
             * Format: date-time
             * @description When submissions close.
             */
            closes_at: string | null;
            /**
             * Format: date-time
             * @description When responses are due.
             */
            response_at: string | null;
        };
        Classifications: {
            /** @description Keywords and category labels. */
            keywords: string[];
            /** @description Technology areas. */
            technology_areas: string[];
            /** @description Codes with their scheme: `ALN:93.242`, `FAC:ST`, `PSC:AC12`. */
            tech_taxonomy: string[];
            /** @description NAICS codes. */
            naics_codes: string[];
            /** @description Set-aside codes. */
            set_aside_types: string[];
        };
        Eligibility: {
            /** @description Who may apply, and under which conditions. */
            requirements: string | null;
            /** @description Place of performance or geographic limits. */
            geographic_scope: string | null;
        };
        Contact: {
            /** @description Name of the person or office. */
            name: string | null;
            /** @description E-mail address. */
            email: string | null;
            /** @description Telephone number. */
            phone: string | null;
            /** @description What the contact is for. */
            role: string | null;
        };
        Relationships: {
            /** @description Id of the opportunity that this one follows from. */
            parent_id: string | null;
            /** @description Id of the record that stands for the same opportunity across sources. */
            canonical_id: string | null;
        };
        OpportunityEventPage: {
            data: components["schemas"]["OpportunityEvent"][];
            meta: components["schemas"]["PageMeta"];
            links: components["schemas"]["PageLinks"];
        };
        OpportunityEvent: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            opportunity_id: string;
            /**
             * @description Known values: `opportunity_added`, `opportunity_removed`, `status_changed`, `date_changed`, `funding_changed`, `description_changed`, `qanda_updated`, `attachments_changed`, `field_updated`, `unknown`.
             * @example opportunity_added
             * @example opportunity_removed
             * @example status_changed
             * @example date_changed
             * @example funding_changed
             * @example description_changed
             * @example qanda_updated
             * @example attachments_changed
             * @example field_updated
             * @example unknown
             */
            type: string;
            /**
             * @description Known values: `noise`, `cosmetic`, `informational`, `material`, `critical`, `unknown`.
             * @example noise
             * @example cosmetic
             * @example informational
             * @example material
             * @example critical
             * @example unknown
             */
            severity: string;
            /** @description The change in a sentence. */
            summary: string | null;
            /** @description Dotted paths of the changed fields. */
            changed_fields: string[];
            /** @description The same fields, in the same order, with their values. */
            changes: components["schemas"]["Change"][];
            /**
             * Format: date-time
             * @description When the change was stored: the record's `updated_at` of that change.
             */
            detected_at: string;
        };
        Change: {
            /** @description Dotted path of the field: `dates.closes_at`. */
            field: string;
            /** @description Value before, any JSON value. */
            previous: unknown;
            /** @description Value after, any JSON value. */
            current: unknown;
        };
        SourceList: {
            data: components["schemas"]["SourceEntry"][];
            meta: components["schemas"]["RequestMeta"];
        };
        SourceEntry: {
            /** @description Source code, as in an opportunity's `source.code` and the `source` filter. */
            code: string;
            /** @description Display name. */
            name: string;
            /** @description What the source publishes. */
            description: string;
        };
        ServiceMetadataDetail: {
            data: components["schemas"]["ServiceMetadata"];
            meta: components["schemas"]["RequestMeta"];
        };
        ServiceMetadata: {
            /** @description Name of the service. */
            name: string;
            /** @description Version of the API; the same as `API-Version`. */
            version: string;
            /** @description Lifecycle stage of the service. */
            status: string;
            /**
             * Format: date-time
             * @description The current server time.
             */
            service_time: string;
        };
        RequestMeta: {
            /** @description Identifies this request; the same as `X-Request-Id`. */
            request_id: string;
        };
        PageMeta: {
            /** @description Identifies this request; the same as `X-Request-Id`. */
            request_id: string;
            /**
             * Format: int32
             * @description Number of items in this page.
             */
            count: number;
            /** @description Whether another page follows. */
            has_more: boolean;
            /** @description Send it as `cursor`, with the same filters, for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        PageLinks: {
            /**
             * Format: uri-reference
             * @description This page, relative to the origin.
             */
            self: string;
            /**
             * Format: uri-reference
             * @description The next page, relative to the origin. Do not follow it as returned; build the next request on your base address.
             */
            next: string | null;
        };
        ProblemDetails: {
            /**
             * Format: uri
             * @description Address of the description of this kind of problem.
             */
            type: string;
            /** @description Name of the kind of problem. It never varies. */
            title: string;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /**
             * @description The kind of problem, for programs.
             * @example invalid_parameter
             * @example unsupported_parameter
             * @example invalid_cursor
             * @example authentication_required
             * @example insufficient_entitlement
             * @example not_found
             * @example method_not_allowed
             * @example rate_limit_exceeded
             * @example internal_error
             * @example service_unavailable
             */
            code: string;
            /** @description What is wrong with this request. */
            detail: string;
            /**
             * Format: uri-reference
             * @description Path of the request.
             */
            instance: string;
            /** @description The same as `X-Request-Id`. */
            request_id: string;
            /** @description Every invalid parameter. */
            errors?: components["schemas"]["FieldError"][];
        };
        FieldError: {
            /** @description Name of the parameter. */
            field: string;
            /** @description What its value must be. */
            reason: string;
        };
    };
    responses: {
        /** @description `authentication_required`: No key was sent, or the key is not valid. Send `Authorization: Bearer <API_KEY>`. */
        AuthenticationRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "API-Version": components["headers"]["API-Version"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Content-Encoding": components["headers"]["Content-Encoding"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description `insufficient_entitlement`: The key is valid, but its account has no active subscription. */
        InsufficientEntitlement: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "API-Version": components["headers"]["API-Version"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Content-Encoding": components["headers"]["Content-Encoding"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description `rate_limit_exceeded`: The key has used up its requests for the day or the minute. Wait as many seconds as `Retry-After` says. */
        RateLimitExceeded: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "API-Version": components["headers"]["API-Version"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Content-Encoding": components["headers"]["Content-Encoding"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description `service_unavailable`: The service cannot read its database at the moment. Wait as many seconds as `Retry-After` says. */
        ServiceUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "API-Version": components["headers"]["API-Version"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Content-Encoding": components["headers"]["Content-Encoding"];
                /** @description Requests per day of the key. */
                "RateLimit-Limit"?: number;
                /** @description Requests left in the current daily window. */
                "RateLimit-Remaining"?: number;
                /** @description When the next daily window begins, 00:00 UTC, as a Unix timestamp. */
                "RateLimit-Reset"?: number;
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description `method_not_allowed`: The service is read-only: it accepts GET and OPTIONS. */
        MethodNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "API-Version": components["headers"]["API-Version"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Content-Encoding": components["headers"]["Content-Encoding"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description `internal_error`: The service failed unexpectedly. Quote `request_id` when you report it. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "API-Version": components["headers"]["API-Version"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Content-Encoding": components["headers"]["Content-Encoding"];
                /** @description Requests per day of the key. */
                "RateLimit-Limit"?: number;
                /** @description Requests left in the current daily window. */
                "RateLimit-Remaining"?: number;
                /** @description When the next daily window begins, 00:00 UTC, as a Unix timestamp. */
                "RateLimit-Reset"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description `not_found`: No opportunity has that id, or the path does not exist. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "API-Version": components["headers"]["API-Version"];
                "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Content-Encoding": components["headers"]["Content-Encoding"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Identifies this request; the same as `request_id` in the body. */
        "X-Request-Id": string;
        /** @description Version of the API. */
        "API-Version": "1";
        /** @description Clients must not guess another content type. */
        "X-Content-Type-Options": "nosniff";
        /** @description The request header that the response depends on. */
        Vary: "Accept-Encoding";
        /** @description The compression of a body over 1 KiB, if `Accept-Encoding` asks for one. */
        "Content-Encoding": string;
        /** @description Who may cache the response, and for how long. */
        "Cache-Control": string;
        /** @description Requests per day of the key. */
        "RateLimit-Limit": number;
        /** @description Requests left in the current daily window. */
        "RateLimit-Remaining": number;
        /** @description When the next daily window begins, 00:00 UTC, as a Unix timestamp. */
        "RateLimit-Reset": number;
        /** @description Seconds to wait before sending the request again. */
        "Retry-After": number;
        /** @description Validator: send it as `If-None-Match`. */
        ETag: string;
        /** @description When the record last changed, to the second. */
        "Last-Modified": string;
        /** @description The methods that the service accepts. */
        Allow: string;
        /** @description RFC 6750 challenge, with `error="invalid_token"` if a key was sent. */
        "WWW-Authenticate": string;
        /** @description The page may load only its own files and connect to nothing. */
        "Content-Security-Policy": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getMeta: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Service name, version, status and clock. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "name": "fundfeed",
                     *         "version": "1",
                     *         "status": "preview",
                     *         "service_time": "2026-08-03T14:00:00.000Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "a416ea84421fa7e1351582da48235bac"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ServiceMetadataDetail"];
                };
            };
            405: components["responses"]["MethodNotAllowed"];
            500: components["responses"]["InternalError"];
        };
    };
    listSources: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Source catalog. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "code": "CHALLENGE_GOV",
                     *           "name": "Challenge.gov",
                     *           "description": "Prize competitions and challenges of US federal agencies."
                     *         },
                     *         {
                     *           "code": "DARPA",
                     *           "name": "DARPA",
                     *           "description": "Opportunities of the Defense Advanced Research Projects Agency: solicitations, future programs, requests for information and industry days."
                     *         },
                     *         {
                     *           "code": "DSIP",
                     *           "name": "DoD SBIR/STTR Innovation Portal",
                     *           "description": "SBIR and STTR topics of the Department of Defense, with their questions and answers."
                     *         },
                     *         {
                     *           "code": "GRANTS_GOV",
                     *           "name": "Grants.gov",
                     *           "description": "Grants and cooperative agreements of US federal agencies, forecasts included."
                     *         },
                     *         {
                     *           "code": "NASA_NSPIRES",
                     *           "name": "NASA NSPIRES",
                     *           "description": "Research solicitations of NASA, with their release and due dates."
                     *         },
                     *         {
                     *           "code": "NASA_ROSES",
                     *           "name": "NASA ROSES",
                     *           "description": "The programs of a year of Research Opportunities in Space and Earth Sciences, with the due dates of both steps."
                     *         },
                     *         {
                     *           "code": "NSF",
                     *           "name": "National Science Foundation",
                     *           "description": "Funding programs and Dear Colleague Letters of the National Science Foundation."
                     *         },
                     *         {
                     *           "code": "SAM_GOV",
                     *           "name": "SAM.gov",
                     *           "description": "Contract opportunities of US federal agencies: sources sought, solicitations, awards and other notices."
                     *         },
                     *         {
                     *           "code": "SBIR_GOV",
                     *           "name": "SBIR.gov",
                     *           "description": "SBIR and STTR solicitations and topics of all participating agencies."
                     *         },
                     *         {
                     *           "code": "SIMPLER_GRANTS_GOV",
                     *           "name": "Simpler.Grants.gov",
                     *           "description": "The search export of the new Grants.gov site."
                     *         }
                     *       ],
                     *       "meta": {
                     *         "request_id": "88380a337ec5cb5a9239dc7d57908b4b"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SourceList"];
                };
            };
            /** @description `unsupported_parameter`: The request has a query parameter that this operation does not support. No operation supports `q`, `sort` or `order`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemDetails"];
                };
            };
            401: components["responses"]["AuthenticationRequired"];
            403: components["responses"]["InsufficientEntitlement"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listOpportunities: {
        parameters: {
            query?: {
                /** @description Only these statuses. Comma-separated, repeated or both; at most 50 values. Blanks around values and duplicates are ignored. */
                status?: ("forecast" | "pre_release" | "open" | "closing_soon" | "closed" | "awarded" | "cancelled" | "archived")[];
                /** @description Only these source codes, in upper or lower case. `OTHER` matches every source that is not in the source catalog. Comma-separated, repeated or both; at most 50 values. Blanks around values and duplicates are ignored. */
                source?: string[];
                /** @description Only if the agency's name contains this text, in upper or lower case. At most 200 characters, sent once. */
                agency?: string;
                /** @description Only these program types. Comma-separated, repeated or both; at most 50 values. Blanks around values and duplicates are ignored. */
                program_type?: ("SBIR" | "STTR" | "BAA" | "RFI" | "RFP" | "OTA" | "GRANT" | "CONTRACT" | "PRIZE" | "CSO" | "CRADA" | "INDUSTRY_EVENT" | "OTHER")[];
                /** @description Only the record that has or had this upstream identifier. Needs exactly one `source`. At most 256 characters, sent once. */
                source_opportunity_id?: string;
                /** @description Only records that changed after this instant (not at it). An RFC 3339 date-time with an offset, sent once; write its `+` as `%2B`. */
                updated_since?: string;
                /** @description Page size. From 1 to 100, in plain decimal digits, sent once. */
                limit?: number;
                /** @description `meta.next_cursor` of the previous page, with the same filters. At most 512 characters, sent once. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List opportunities. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "fca803eb-9c0c-5629-9781-6fd8d2a49b88",
                     *           "source": {
                     *             "code": "GRANTS_GOV",
                     *             "name": "Grants.gov",
                     *             "opportunity_id": "329432",
                     *             "url": "https://www.grants.gov/search-results-detail/329432"
                     *           },
                     *           "title": "Law & Science",
                     *           "summary": "The Law & Science Program considers proposals that address social scientific studies of law and law-like systems of rules, as wellas studies of how science and technology are applied in legal contexts.The Program is inherently interdisciplinary and multi-methodological.Successful proposals describe research that advances scientific theory and understanding of the connections between human behavior and law, legal institutions, or legal processes; or the interactions of law and basic sciences, inc",
                     *           "description": "The Law & Science Program considers proposals that address social scientific studies of law and law-like systems of rules, as wellas studies of how science and technology are applied in legal contexts.The Program is inherently interdisciplinary and multi-methodological.Successful proposals describe research that advances scientific theory and understanding of the connections between human behavior and law, legal institutions, or legal processes; or the interactions of law and basic sciences, inc",
                     *           "status": "open",
                     *           "status_display": null,
                     *           "organization": {
                     *             "agency": "U.S. National Science Foundation",
                     *             "sub_agency": null,
                     *             "issuing_office": null
                     *           },
                     *           "program": {
                     *             "type": "GRANT",
                     *             "solicitation_id": "PD-21-128Y",
                     *             "solicitation_title": "Law & Science",
                     *             "contract_class": "Grant"
                     *           },
                     *           "funding": {
                     *             "currency": "USD",
                     *             "amount_min": null,
                     *             "amount_max": null,
                     *             "display": "$5,500,000 total"
                     *           },
                     *           "dates": {
                     *             "posted_at": "2020-10-15T00:00:00-04:00",
                     *             "opens_at": "2020-10-15T00:00:00-04:00",
                     *             "closes_at": null,
                     *             "response_at": null
                     *           },
                     *           "classifications": {
                     *             "keywords": [
                     *               "Discretionary",
                     *               "Science and Technology and other Research and Development"
                     *             ],
                     *             "technology_areas": [],
                     *             "tech_taxonomy": [
                     *               "FAC:ST",
                     *               "ALN:47.075"
                     *             ],
                     *             "naics_codes": [],
                     *             "set_aside_types": []
                     *           },
                     *           "eligibility": {
                     *             "requirements": "Unrestricted\nCost sharing or matching required: No\nDeadline note: Proposals accepted anytime",
                     *             "geographic_scope": null
                     *           },
                     *           "contacts": [
                     *             {
                     *               "name": "NSF grants.gov support",
                     *               "email": "grantsgovsupport@nsf.gov",
                     *               "phone": null,
                     *               "role": "Grantor contact"
                     *             }
                     *           ],
                     *           "value_estimate": null,
                     *           "relationships": {
                     *             "parent_id": null,
                     *             "canonical_id": null
                     *           },
                     *           "created_at": "2025-08-21T08:00:00.000Z",
                     *           "updated_at": "2026-07-26T13:40:14.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "request_id": "337e5261275142b315c7c871fc9ebcd9",
                     *         "count": 1,
                     *         "has_more": true,
                     *         "next_cursor": "AUJ5-ep6IwAA_KgD65wMVimXgW_Y0qSbiFnH1Yt9v1sZaLwA1PEfsGI"
                     *       },
                     *       "links": {
                     *         "self": "/v1/opportunities?status=open,closing_soon&program_type=GRANT&agency=national+science&limit=1",
                     *         "next": "/v1/opportunities?status=open,closing_soon&program_type=GRANT&agency=national%20science&limit=1&cursor=AUJ5-ep6IwAA_KgD65wMVimXgW_Y0qSbiFnH1Yt9v1sZaLwA1PEfsGI"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OpportunityPage"];
                };
            };
            /**
             * @description - `unsupported_parameter`: The request has a query parameter that this operation does not support. No operation supports `q`, `sort` or `order`.
             *     - `invalid_parameter`: A parameter has an invalid value. `errors` names each such parameter and says what its value must be.
             *     - `invalid_cursor`: The cursor is damaged, or it belongs to a request with other filters. Start again without it.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemDetails"];
                };
            };
            401: components["responses"]["AuthenticationRequired"];
            403: components["responses"]["InsufficientEntitlement"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getOpportunity: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that you have, a list of them, or `*`. If one matches, the response is 304. */
                "If-None-Match"?: string;
                /** @description A `Last-Modified` that you have, as an HTTP date. Ignored if `If-None-Match` is sent. */
                "If-Modified-Since"?: string;
            };
            path: {
                /** @description The service's id of the opportunity. A UUID, in upper or lower case. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One opportunity. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    "Last-Modified": components["headers"]["Last-Modified"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "eb7863be-c9fd-5a72-b348-a17b86f00b53",
                     *         "source": {
                     *           "code": "GRANTS_GOV",
                     *           "name": "Grants.gov",
                     *           "opportunity_id": "278447",
                     *           "url": "https://www.grants.gov/search-results-detail/278447"
                     *         },
                     *         "title": "Computational Mathematics",
                     *         "summary": "Supports mathematical research in areas where computation plays a central and essential role, emphasizing analysis, development, and implementation of theoretically justified and efficient algorithms. The combination of these elements resulting in innovative computational methods is a hallmark of the program. Proposals ranging from single investigator to interdisciplinary team projects that not only create and analyze new computational mathematics techniques but also implement them to model, stu",
                     *         "description": "Supports mathematical research in areas where computation plays a central and essential role, emphasizing analysis, development, and implementation of theoretically justified and efficient algorithms. The combination of these elements resulting in innovative computational methods is a hallmark of the program. Proposals ranging from single investigator to interdisciplinary team projects that not only create and analyze new computational mathematics techniques but also implement them to model, stu",
                     *         "status": "open",
                     *         "status_display": null,
                     *         "organization": {
                     *           "agency": "U.S. National Science Foundation",
                     *           "sub_agency": null,
                     *           "issuing_office": null
                     *         },
                     *         "program": {
                     *           "type": "GRANT",
                     *           "solicitation_id": "PD-16-1271",
                     *           "solicitation_title": "Computational Mathematics",
                     *           "contract_class": "Grant"
                     *         },
                     *         "funding": {
                     *           "currency": "USD",
                     *           "amount_min": "1.00",
                     *           "amount_max": "1200000.00",
                     *           "display": "Up to $1,200,000 per award; $18,000,000 total"
                     *         },
                     *         "dates": {
                     *           "posted_at": null,
                     *           "opens_at": null,
                     *           "closes_at": "2026-12-01T23:59:59-05:00",
                     *           "response_at": null
                     *         },
                     *         "classifications": {
                     *           "keywords": [
                     *             "Discretionary",
                     *             "Science and Technology and other Research and Development"
                     *           ],
                     *           "technology_areas": [],
                     *           "tech_taxonomy": [
                     *             "FAC:ST",
                     *             "ALN:47.049"
                     *           ],
                     *           "naics_codes": [],
                     *           "set_aside_types": []
                     *         },
                     *         "eligibility": {
                     *           "requirements": "Unrestricted\nCost sharing or matching required: No\nDeadline note: December 1-15, annually",
                     *           "geographic_scope": null
                     *         },
                     *         "contacts": [
                     *           {
                     *             "name": "NSF grants.gov support",
                     *             "email": "grantsgovsupport@nsf.gov",
                     *             "phone": null,
                     *             "role": "Grantor contact"
                     *           }
                     *         ],
                     *         "value_estimate": null,
                     *         "relationships": {
                     *           "parent_id": null,
                     *           "canonical_id": null
                     *         },
                     *         "created_at": "2025-08-21T08:00:00.000Z",
                     *         "updated_at": "2026-07-26T13:40:14.000Z"
                     *       },
                     *       "meta": {
                     *         "request_id": "889c91bcbc0acfc88c70a695e19a300d"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OpportunityDetail"];
                };
            };
            /** @description Unchanged: you have the current version. The body is empty. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    "Last-Modified": components["headers"]["Last-Modified"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description - `unsupported_parameter`: The request has a query parameter that this operation does not support. No operation supports `q`, `sort` or `order`.
             *     - `invalid_parameter`: A parameter has an invalid value. `errors` names each such parameter and says what its value must be.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemDetails"];
                };
            };
            401: components["responses"]["AuthenticationRequired"];
            403: components["responses"]["InsufficientEntitlement"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listOpportunityEvents: {
        parameters: {
            query?: {
                /** @description Only these event types. Comma-separated, repeated or both; at most 50 values. Blanks around values and duplicates are ignored. */
                type?: ("opportunity_added" | "opportunity_removed" | "status_changed" | "date_changed" | "funding_changed" | "description_changed" | "qanda_updated" | "attachments_changed" | "field_updated" | "unknown")[];
                /** @description Only events detected after this instant (not at it). An RFC 3339 date-time with an offset, sent once; write its `+` as `%2B`. */
                since?: string;
                /** @description Whether to include events of severity `noise` and `cosmetic`. `true` or `false`, sent once. */
                include_insignificant?: boolean;
                /** @description Page size. From 1 to 100, in plain decimal digits, sent once. */
                limit?: number;
                /** @description `meta.next_cursor` of the previous page, with the same filters. At most 512 characters, sent once. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description The service's id of the opportunity. A UUID, in upper or lower case. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Change history of one opportunity. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "953472e5-26bd-53a7-956c-06479a8b1856",
                     *           "opportunity_id": "eb7863be-c9fd-5a72-b348-a17b86f00b53",
                     *           "type": "date_changed",
                     *           "severity": "material",
                     *           "summary": "dates.closes_at changed from 2025-12-01T23:59:59-05:00 to 2026-12-01T23:59:59-05:00",
                     *           "changed_fields": [
                     *             "dates.closes_at"
                     *           ],
                     *           "changes": [
                     *             {
                     *               "field": "dates.closes_at",
                     *               "previous": "2025-12-01T23:59:59-05:00",
                     *               "current": "2026-12-01T23:59:59-05:00"
                     *             }
                     *           ],
                     *           "detected_at": "2026-07-26T13:40:14.000Z"
                     *         },
                     *         {
                     *           "id": "5a196247-13ca-575e-bf4d-f0047561d7d1",
                     *           "opportunity_id": "eb7863be-c9fd-5a72-b348-a17b86f00b53",
                     *           "type": "status_changed",
                     *           "severity": "critical",
                     *           "summary": "status changed from closed to open",
                     *           "changed_fields": [
                     *             "status"
                     *           ],
                     *           "changes": [
                     *             {
                     *               "field": "status",
                     *               "previous": "closed",
                     *               "current": "open"
                     *             }
                     *           ],
                     *           "detected_at": "2026-07-26T13:40:14.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "request_id": "10b9ce932e55569b879e76fca1d28779",
                     *         "count": 2,
                     *         "has_more": true,
                     *         "next_cursor": "AUJ5-ep6IwAAWhliRxPKV16_TfAEdWHX0Y8EUMeoREts1IjebOPP9M4"
                     *       },
                     *       "links": {
                     *         "self": "/v1/opportunities/eb7863be-c9fd-5a72-b348-a17b86f00b53/events?limit=2",
                     *         "next": "/v1/opportunities/eb7863be-c9fd-5a72-b348-a17b86f00b53/events?limit=2&cursor=AUJ5-ep6IwAAWhliRxPKV16_TfAEdWHX0Y8EUMeoREts1IjebOPP9M4"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OpportunityEventPage"];
                };
            };
            /**
             * @description - `unsupported_parameter`: The request has a query parameter that this operation does not support. No operation supports `q`, `sort` or `order`.
             *     - `invalid_parameter`: A parameter has an invalid value. `errors` names each such parameter and says what its value must be.
             *     - `invalid_cursor`: The cursor is damaged, or it belongs to a request with other filters. Start again without it.
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemDetails"];
                };
            };
            401: components["responses"]["AuthenticationRequired"];
            403: components["responses"]["InsufficientEntitlement"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimitExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that you have, a list of them, or `*`. If one matches, the response is 304. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This description. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Unchanged: you have the current version. The body is empty. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            405: components["responses"]["MethodNotAllowed"];
            500: components["responses"]["InternalError"];
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that you have, a list of them, or `*`. If one matches, the response is 304. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reference for people. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Unchanged: you have the current version. The body is empty. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "Content-Security-Policy": components["headers"]["Content-Security-Policy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            405: components["responses"]["MethodNotAllowed"];
            500: components["responses"]["InternalError"];
        };
    };
}
