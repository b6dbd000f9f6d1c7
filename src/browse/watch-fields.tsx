/** @jsxImportSource hono/jsx */
/** The form of a watch of a member, with what was typed if it was refused; and the forms that stand on other pages. */
import type { Child } from "hono/jsx";
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

const [FIRST_HOUR, HOURS] = [5, 24];

/** The hours as people say them, from the early morning on. */
const HOURS_OF_DAY = Array.from({ length: HOURS }, (_, n) => `${String((n + FIRST_HOUR) % HOURS).padStart(2, "0")}:00`);

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
  const given = (name: string) => sent?.values.get(name) ?? stored[name] ?? "";
  const refusals = sent?.refusals ?? new Map<string, string>();
  const field = (name: string) => ({ name, reason: refusals.get(name) });
  return (
    <>
      <Refusal sent={sent} />
      <Field {...field("title")} label="Name">
        <input id="title" name="title" value={given("title")} required {...invalid("title", refusals)} />
      </Field>
      {(hosts.length > 0 || host !== undefined) && (
        <>
          <Field {...field("to")} label="Where to">
            <Select name="to" options={Object.entries(PLACES)} chosen={given("to")} refusals={refusals} />
          </Field>
          <Field
            {...field("channel")}
            label="Address of the channel (if to Teams)"
            help={host === undefined ? WORKFLOW : `Empty for the one that it has, at ${host}. ${WORKFLOW}`}
          >
            <input id="channel" name="channel" type="url" value={given("channel")} autocomplete="off" {...invalid("channel", refusals)} />
          </Field>
        </>
      )}
      <Field {...field("when")} label="When">
        <Select name="when" options={Object.entries(WHEN)} chosen={given("when")} refusals={refusals} />
      </Field>
      <Field {...field("time")} label="At what time" help="For mails every day, or on a day of the week">
        <Select name="time" options={HOURS_OF_DAY.map((each) => [each, timeOfDay(each)])} chosen={given("time")} refusals={refusals} />
      </Field>
      <Field {...field("zone")} label="Time zone">
        <Select name="zone" options={Object.entries(ZONES)} chosen={given("zone")} refusals={refusals} />
      </Field>
      <Field {...field("at_least")} label="Which changes">
        <Select name="at_least" options={Object.entries(AT_LEAST)} chosen={given("at_least")} refusals={refusals} />
      </Field>
      <Field {...field("remind")} label="Reminders, in days before a deadline (optional)" help="For example: 14, 3">
        <input id="remind" name="remind" value={given("remind")} inputmode="numeric" autocomplete="off" {...invalid("remind", refusals)} />
      </Field>
    </>
  );
}

function Field({
  name,
  label,
  reason,
  help = "",
  children,
}: {
  name: string;
  label: string;
  reason: string | undefined;
  help?: string;
  children?: Child;
}) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children}
      {(reason ?? help) !== "" && (
        <p class={reason === undefined ? "hint" : "error"} id={`${name}-hint`}>
          {reason ?? help}
        </p>
      )}
    </div>
  );
}

type SelectProps = {
  name: string;
  options: readonly (readonly [value: string, text: string])[];
  chosen: string;
  refusals: ReadonlyMap<string, string>;
};

/** A value that is not offered, such as another zone, is offered too. */
function Select({ name, options, chosen, refusals }: SelectProps) {
  const all = options.some(([value]) => value === chosen) || chosen === "" ? options : [...options, [chosen, chosen] as const];
  return (
    <select id={name} name={name} {...invalid(name, refusals)}>
      {all.map(([value, text]) => (
        <option key={value} value={value} selected={value === chosen}>
          {text}
        </option>
      ))}
    </select>
  );
}

function invalid(name: string, refusals: ReadonlyMap<string, string>) {
  return refusals.has(name) ? { "aria-invalid": "true" as const, "aria-describedby": `${name}-hint` } : {};
}

/** Buttons to follow or unfollow an opportunity and, if `isMuted` is known, to mute or unmute it in all mails. */
export function FollowForm({
  id,
  isFollowed,
  back,
  isMuted,
}: {
  id: string;
  isFollowed: boolean;
  back: string;
  isMuted?: boolean | undefined;
}) {
  return (
    <form class="line" method="post" action="/follow">
      <input type="hidden" name="id" value={id} />
      <input type="hidden" name="back" value={back} />
      <button type="submit" name="action" value={isFollowed ? "unfollow" : "follow"} data-second={isFollowed ? "" : undefined}>
        {isFollowed ? "Stop following" : "Follow"}
      </button>
      {isMuted !== undefined && (
        <button type="submit" name="action" value={isMuted ? "unmute" : "mute"} data-second>
          {isMuted ? "Report it in my mails again" : "Leave out of my mails"}
        </button>
      )}
    </form>
  );
}
