/** @jsxImportSource hono/jsx */
/** The form of a watch of a member, with what was typed if it was refused; and the forms that stand on other pages. */
import type { Child } from "hono/jsx";
import type { WatchDefinition } from "../watch/watch.ts";
import { FIELDS, shownChoices } from "../watch/watch-form.ts";
import { Alert, InputField, type SearchForm, SelectField } from "./search-form.tsx";

/** A form that was sent and refused. "" has the reasons that belong to no field. */
export type SentForm = Pick<SearchForm, "given" | "errors">;

/** A form as a header of `up`. */
export function formHeader({ given, errors }: SentForm): string {
  return Buffer.from(JSON.stringify([given, [...errors]])).toString("base64url");
}

/** The form of such a header. */
export function sentForm(header: string): SentForm {
  const [given, errors] = JSON.parse(Buffer.from(header, "base64url").toString());
  return { given, errors: new Map(errors) };
}

type WatchFieldsProps = { definition: Partial<WatchDefinition>; sent: SentForm | undefined; hosts: readonly string[] };

/** The fields besides the search. Those of a channel are shown if there is a choice. */
export function WatchFields({ definition, sent, hosts }: WatchFieldsProps) {
  const form = { given: { ...shownChoices(definition), ...sent?.given }, errors: sent?.errors ?? new Map<string, string>() };
  const hasChannel = hosts.length > 0 || definition.receiver?.to === "channel";
  const fields = Object.entries(FIELDS).filter(([name]) => hasChannel || !["to", "channel"].includes(name));
  return (
    <>
      <Alert>{form.errors.get("")}</Alert>
      {fields.map(([name, { label, help, options, input }]) => {
        const field = { name, label, form, help: help?.(definition) };
        if (options === undefined) return <InputField {...field} {...input} />;
        const offered = Object.entries(options).map(([code, name]) => ({ code, name }));
        return <SelectField {...field} options={offered} chosen={form.given[name] ?? ""} />;
      })}
    </>
  );
}

type Texts = Readonly<Record<string, string>>;
type PostFormProps = { to: string; values?: Texts; submit?: string; actions?: Texts; children?: Child };

/** A form. `values` are sent with it. Its button is `submit`, or it has a button for each of `actions`, in one line. */
export function PostForm({ to, values = {}, submit, actions = {}, children }: PostFormProps) {
  return (
    <form class={submit === undefined ? "line" : "sign-in"} method="post" action={to}>
      {Object.entries(values).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
      {submit !== undefined && <button type="submit">{submit}</button>}
      {Object.entries(actions).map(([action, words]) => (
        <button type="submit" name="action" value={action} data-second={action === "follow" ? undefined : ""}>
          {words}
        </button>
      ))}
    </form>
  );
}

type FollowProps = { id: string; isFollowed: boolean; back: string; isMuted?: boolean | undefined };

/** Buttons to follow or unfollow an opportunity and, if `isMuted` is known, to mute or unmute it in all mails. */
export function FollowForm({ id, isFollowed, back, isMuted }: FollowProps) {
  const actions = {
    ...(isFollowed ? { unfollow: "Stop following" } : { follow: "Follow" }),
    ...(isMuted === true && { unmute: "Report it in my mails again" }),
    ...(isMuted === false && { mute: "Leave out of my mails" }),
  };
  return <PostForm to="/follow" values={{ id, back }} actions={actions} />;
}
