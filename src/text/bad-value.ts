/** A value that somebody gave and that a field does not take. The message says what it must be, without the field's name. */
export class BadValue extends Error {}
