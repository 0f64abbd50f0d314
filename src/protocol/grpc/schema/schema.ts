/**
 * One `.proto` file of syntax proto3 as a table: what clients are generated from and what reflection tells come from
 * it. Fields and calls are written as they stand in the file.
 */
export type Schema = Readonly<{
  /** Of the file. */
  name: string;
  package: string;
  imports?: readonly Readonly<{ file: string; public?: true }>[];
  /** Numbers of the values. A name with a point is that of an enum inside a message. */
  enums?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  messages: Readonly<Record<string, readonly FieldOrOneof[]>>;
  /** For each service its calls, such as `(stream Request) returns (Response)`. */
  services?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}>;

/** A field such as `repeated bytes keys = 2`, or several of which a message has one. */
export type FieldOrOneof = string | Readonly<{ oneof: string; fields: readonly string[] }>;

/** A field taken apart. */
export type Field = Readonly<{
  label: 'optional' | 'repeated' | 'map' | null;
  /** Of a map's values. */
  type: string;
  name: string;
  number: number;
}>;

const FIELD = /^(?:(optional|repeated) )?(?:map<string, ([\w.]+)>|([\w.]+)) (\w+) = (\d+)$/;
const CALL = /^\((stream )?([\w.]+)\) returns \((stream )?([\w.]+)\)$/;

/** @throws RangeError for a row that is none: a defect in a table. */
export function parseField(row: string): Field {
  const [, label, mapped, type, name, number] = FIELD.exec(row) ?? [];
  if (name === undefined) throw new RangeError(`not a field: ${row}`);
  return {
    label: mapped === undefined ? ((label as 'optional' | 'repeated' | undefined) ?? null) : 'map',
    type: mapped ?? (type as string),
    name,
    number: Number(number),
  };
}

/** What a call takes and gives. */
export type GrpcMethod = Readonly<{
  request: string;
  response: string;
  streamsIn: boolean;
  streamsOut: boolean;
}>;

/** @throws RangeError for a row that is none. */
export function parseGrpcMethod(row: string): GrpcMethod {
  const [, streamsIn, request, streamsOut, response] = CALL.exec(row) ?? [];
  if (request === undefined || response === undefined) throw new RangeError(`not a call: ${row}`);
  return { request, response, streamsIn: streamsIn !== undefined, streamsOut: streamsOut !== undefined };
}
