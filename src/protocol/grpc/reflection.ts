import { ProtobufReader } from '../geyser/protobuf.ts';
import { ProtobufWriter } from '../geyser/protobuf-writer.ts';
import { encodeFileDescriptor } from './schema/file-descriptor.ts';
import { geyserSchema } from './schema/geyser.ts';
import type { Schema } from './schema/schema.ts';
import { shredstreamSchema } from './schema/shredstream.ts';
import { solanaStorageSchema } from './schema/solana-storage.ts';
import { healthSchema, reflectionSchema, timestampSchema } from './schema/well-known.ts';
import { numberOf } from './status.ts';

/** What the server speaks, with all that it stands on. */
const schemas: readonly Schema[] = [
  geyserSchema,
  solanaStorageSchema,
  shredstreamSchema,
  timestampSchema,
  healthSchema,
  reflectionSchema('v1'),
  reflectionSchema('v1alpha'),
];

/** Paths of the calls: `ServerReflectionInfo` of both versions, which have the same messages. */
export const reflectionPaths: readonly string[] = [
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
];

const byFile = new Map(schemas.map((schema) => [schema.name, schema]));
const bySymbol = new Map(
  schemas.flatMap((schema) => symbolsOf(schema).map((name) => [name, schema] as const)),
);
/** Encoded when they are first asked for. */
const descriptors = new Map<Schema, Uint8Array>();

function symbolsOf({ package: name, messages, enums = {}, services = {} }: Schema): string[] {
  const calls = Object.entries(services).flatMap(([service, rows]) =>
    Object.keys(rows).map((call) => `${service}.${call}`),
  );
  const names = [messages, enums, services].flatMap((table) => Object.keys(table));
  return [...names, ...calls].map((each) => `${name}.${each}`);
}

const serviceNames = (): string[] =>
  schemas.flatMap(({ package: name, services = {} }) =>
    Object.keys(services).map((each) => `${name}.${each}`),
  );

function descriptorOf(schema: Schema): Uint8Array {
  const cached = descriptors.get(schema);
  if (cached !== undefined) return cached;
  const encoded = encodeFileDescriptor(schema);
  descriptors.set(schema, encoded);
  return encoded;
}

/** A file and all that it imports, each once. */
function withImports(schema: Schema, found = new Set<Schema>()): Set<Schema> {
  found.add(schema);
  for (const { file } of schema.imports ?? []) {
    const imported = byFile.get(file);
    if (imported !== undefined && !found.has(imported)) withImports(imported, found);
  }
  return found;
}

/** A field of an answer. */
type ReflectionField = Readonly<{ field: number; content: ProtobufWriter }>;

function errorField(code: 'NOT_FOUND' | 'UNIMPLEMENTED', text: string): ReflectionField {
  return { field: 7, content: new ProtobufWriter().uint32(1, numberOf(code)).string(2, text) };
}

function files(schema: Schema | undefined, requested: string): ReflectionField {
  if (schema === undefined) return errorField('NOT_FOUND', `not found: ${requested}`);
  const content = new ProtobufWriter(8192);
  for (const each of withImports(schema)) content.bytes(1, descriptorOf(each));
  return { field: 4, content };
}

function services(): ReflectionField {
  const content = new ProtobufWriter();
  for (const name of serviceNames()) content.message(1, new ProtobufWriter().string(1, name));
  return { field: 6, content };
}

/** By field number of a request. Extensions there are none in proto3. */
function responseTo(field: number, requested: string): ReflectionField {
  if (field === 3) return files(byFile.get(requested), requested);
  if (field === 4) return files(bySymbol.get(requested), requested);
  if (field === 7) return services();
  return errorField('UNIMPLEMENTED', 'not supported');
}

/**
 * Answers one `ServerReflectionRequest` with one `ServerReflectionResponse`.
 * Source: grpc/grpc, doc/server-reflection.md.
 * @throws InvalidProtobuf
 */
export function handleReflection(request: Uint8Array): Uint8Array {
  let host = '';
  let field = 0;
  let requested = '';
  const reader = new ProtobufReader(request);
  while (reader.next()) {
    if (reader.field === 1) host = reader.string();
    else if (reader.field >= 3 && reader.field <= 7) {
      field = reader.field;
      if (field === 5) reader.skipField();
      else requested = reader.string();
    } else reader.skipField();
  }
  const response = responseTo(field, requested);
  const writer = new ProtobufWriter(response.content.length + request.length + 64);
  return writer.stringOrNone(1, host).bytes(2, request).message(response.field, response.content).finish();
}
