/** A UUID (RFC 9562) in upper or lower case, such as the id of an opportunity. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
