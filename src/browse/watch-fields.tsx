/** @jsxImportSource hono/jsx */
/** The form of a watch of a member, with what was typed if it was refused; and the forms that stand on other pages. */
import type { ChannelHost } from "../watch/member-channel.ts";
import type { Receiver, WatchDefinition } from "../watch/watch.ts";
import { AT_LEAST, timeOfDay, WHEN, ZONES } from "../watch/watch-form.ts";

/** A form that was sent and refused. `refusals` has the reasons by field; "" has those that belong to no field. */
export type SentForm = { values: URLSearchParams; refusals: ReadonlyMap<string, string> };

const REFUSED = "refused ";

/** A form as a header of `up`. */
export function formHeader(values: Readonly<Record<string, string>>, refusals: ReadonlyMap<string, string>): string {
  const reasons = Array.from(refusals, ([field, reason]) => [REFUSED + field, reason]);
  return `${new URLSearchParams({ ...values, ...Object.fromEntries(reasons) })}`;
}

/** The sent form of such a header. */
export function sentForm(header: string | null): SentForm | undefined {
  if (header === null) return undefined;
  const values = new URLSearchParams(header);
  const reasons = [...values].filter(([name]) => name.startsWith(REFUSED));
  return { values, refusals: new Map(reasons.map(([name, reason]) => [name.slice(REFUSED.length), reason])) };
}

const PLACES = { mailbox: "my mailbox", channel: "a channel in Teams" };
const WORKFLOW = "In Teams, make the workflow “Send webhook alerts to a channel”, and copy the address that it shows.";

/** The hours as people say them, from five in the morning on. */
const HOURS_OF_DAY = Array.from({ length: 24 }, (_, n) => {
  const time = `${String((n + 5) % 24).padStart(2, "0")}:00`;
  return [time, timeOfDay(time)] as const;
});

type WatchFieldsProps = {
  definition: Pick<WatchDefinition, "title" | "at_least" | "zone" | "every" | "remind"> & { receiver?: Receiver };
  sent: SentForm | undefined;
  hosts: readonly ChannelHost[];
};

/** Why a form was refused, if that belongs to no field. */
export function Refusal({ sent }: Pick<WatchFieldsProps, "sent">) {
  const reason = sent?.refusals.get("");
  return reason === undefined ? null : (
    <p class="error" role="alert">
      {reason}
    </p>
  );
}

/** The fields besides the search. */
export function WatchFields({ definition: { title = "", at_least, zone, every, remind = [], receiver }, sent, hosts }: WatchFieldsProps) {
  const [day = "now", time = "08:00"] = every?.split(" ") ?? [];
  const host = receiver?.to === "channel" ? receiver.host : undefined;
  const to = host === undefined ? "mailbox" : "channel";
  const stored: Readonly<Record<string, string>> = { title, to, at_least, zone, when: day, time, remind: remind.join(", ") };
  const toTeams = host === undefined ? WORKFLOW : `Empty for the one that it has, at ${host}. ${WORKFLOW}`;
  const places: FieldProps[] = [
    { name: "to", label: "Where to", options: Object.entries(PLACES) },
    { name: "channel", label: "Address of the channel (if to Teams)", help: toTeams, input: { type: "url", autocomplete: "off" } },
  ];
  const fields: FieldProps[] = [
    { name: "title", label: "Name", input: { required: true } },
    ...(hosts.length > 0 || host !== undefined ? places : []),
    { name: "when", label: "When", options: Object.entries(WHEN) },
    { name: "time", label: "At what time", help: "For mails every day, or on a day of the week", options: HOURS_OF_DAY },
    { name: "zone", label: "Time zone", options: Object.entries(ZONES) },
    { name: "at_least", label: "Which changes", options: Object.entries(AT_LEAST) },
    {
      name: "remind",
      label: "Reminders, in days before a deadline (optional)",
      help: "For example: 14, 3",
      input: { inputmode: "numeric", autocomplete: "off" },
    },
  ];
  return (
    <>
      <Refusal sent={sent} />
      {fields.map((field) => {
        const value = sent?.values.get(field.name) ?? stored[field.name] ?? "";
        return <Field key={field.name} {...field} value={value} reason={sent?.refusals.get(field.name)} />;
      })}
    </>
  );
}

type Options = readonly (readonly [value: string, text: string])[];

/** A field with these options, or one to type in. `input`: further attributes of the input. */
type FieldProps = { name: string; label: string; help?: string; options?: Options; input?: object };

/** A value that is not offered, such as another zone, is offered too. */
function Field({ name, label, help = "", options, input, value, reason }: FieldProps & { value: string; reason: string | undefined }) {
  const refused = reason === undefined ? {} : { "aria-invalid": "true" as const, "aria-describedby": `${name}-hint` };
  const isOffered = value === "" || options?.some(([each]) => each === value);
  const offered = options && (isOffered ? options : [...options, [value, value] as const]);
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {offered === undefined ? (
        <input id={name} name={name} value={value} {...input} {...refused} />
      ) : (
        <select id={name} name={name} {...refused}>
          {offered.map(([each, text]) => (
            <option key={each} value={each} selected={each === value}>
              {text}
            </option>
          ))}
        </select>
      )}
      {(reason ?? help) !== "" && (
        <p class={reason === undefined ? "hint" : "error"} id={`${name}-hint`}>
          {reason ?? help}
        </p>
      )}
    </div>
  );
}

type ActionProps = { value: string; isPrimary?: boolean; children: string };

/** A submit button. Most look secondary. */
export function Action({ value, isPrimary = false, children }: ActionProps) {
  return (
    <button type="submit" name="action" value={value} data-second={isPrimary ? undefined : ""}>
      {children}
    </button>
  );
}

type FollowProps = { id: string; isFollowed: boolean; back: string; isMuted?: boolean | undefined };

/** Buttons to follow or unfollow an opportunity and, if `isMuted` is known, to mute or unmute it in all mails. */
export function FollowForm({ id, isFollowed, back, isMuted }: FollowProps) {
  return (
    <form class="line" method="post" action="/follow">
      <input type="hidden" name="id" value={id} />
      <input type="hidden" name="back" value={back} />
      {isFollowed ? (
        <Action value="unfollow">Stop following</Action>
      ) : (
        <Action value="follow" isPrimary>
          Follow
        </Action>
      )}
      {isMuted === true && <Action value="unmute">Report it in my mails again</Action>}
      {isMuted === false && <Action value="mute">Leave out of my mails</Action>}
    </form>
  );
}
