import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../base/package-root.ts';
import { ProtobufReader } from '../geyser/protobuf.ts';
import { ProtobufWriter } from '../geyser/protobuf-writer.ts';
import { numberOf } from './status.ts';

/** A compiled file from `proto/`. */
type ProtoFile = {
  /** Encoded `FileDescriptorProto`. */
  readonly descriptor: Uint8Array;
  name: string;
  readonly imports: string[];
  readonly services: string[];
  /** Full names of messages, enums, services and methods. */
  readonly symbols: string[];
};

type Registry = Readonly<{
  byName: ReadonlyMap<string, ProtoFile>;
  bySymbol: ReadonlyMap<string, ProtoFile>;
}>;

/** v1 and v1alpha use the same messages. */
export const reflectionPaths: readonly string[] = [
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
];

/** Field numbers under which a descriptor contains other named descriptors. Source: protobuf, descriptor.proto. */
type Nested = Readonly<{ [field: number]: Nested }>;
const MESSAGE: Nested = { 3: {}, 4: {} };
const ENUM: Nested = {};
const SERVICE: Nested = { 2: {} };

function addSymbols(symbols: string[], descriptor: ProtobufReader, scope: string, nested: Nested): void {
  let name = scope;
  while (descriptor.next()) {
    const inner = nested[descriptor.field];
    if (descriptor.field === 1) {
      name = `${scope}.${descriptor.string()}`;
      symbols.push(name);
    } else if (inner === undefined) descriptor.skipField();
    else addSymbols(symbols, descriptor.message(), name, inner);
  }
}

function readFile(descriptor: Uint8Array): ProtoFile {
  const file: ProtoFile = { descriptor, name: '', imports: [], services: [], symbols: [] };
  const { symbols } = file;
  let scope = '';
  const reader = new ProtobufReader(descriptor);
  while (reader.next()) {
    if (reader.field === 1) file.name = reader.string();
    else if (reader.field === 2) scope = reader.string();
    else if (reader.field === 3) file.imports.push(reader.string());
    else if (reader.field === 4) addSymbols(symbols, reader.message(), scope, MESSAGE);
    else if (reader.field === 5) addSymbols(symbols, reader.message(), scope, ENUM);
    else if (reader.field === 6) {
      const serviceAt = symbols.length;
      addSymbols(symbols, reader.message(), scope, SERVICE);
      file.services.push(symbols[serviceAt] as string);
    } else reader.skipField();
  }
  return file;
}

let registry: Registry | null = null;

/** Encoded `FileDescriptorProto`s, as `npm run proto` compiled them. */
export function* readProtoFiles(): Generator<Uint8Array> {
  const reader = new ProtobufReader(readFileSync(join(PACKAGE_ROOT, 'proto/descriptors.binpb')));
  while (reader.next()) yield reader.bytes();
}

/** Loads the files on first use. */
function loadRegistry(): Registry {
  if (registry !== null) return registry;
  const files = [...readProtoFiles()].map(readFile);
  registry = {
    byName: new Map(files.map((file) => [file.name, file])),
    bySymbol: new Map(files.flatMap((file) => file.symbols.map((symbol) => [symbol, file] as const))),
  };
  return registry;
}

function withImports(file: ProtoFile, found = new Set<ProtoFile>()): Set<ProtoFile> {
  found.add(file);
  for (const name of file.imports) {
    const imported = loadRegistry().byName.get(name);
    if (imported !== undefined && !found.has(imported)) withImports(imported, found);
  }
  return found;
}

type ResponseField = Readonly<{ field: number; content: ProtobufWriter }>;

function errorField(code: 'NOT_FOUND' | 'UNIMPLEMENTED', text: string): ResponseField {
  return { field: 7, content: new ProtobufWriter().uint32(1, numberOf(code)).string(2, text) };
}

function filesField(file: ProtoFile | undefined, requested: string): ResponseField {
  if (file === undefined) return errorField('NOT_FOUND', `not found: ${requested}`);
  const content = new ProtobufWriter(8192);
  for (const { descriptor } of withImports(file)) content.bytes(1, descriptor);
  return { field: 4, content };
}

/** @param field - field number in the request. Extension queries are unsupported: proto3 has no extensions. */
function responseTo(field: number, requested: string): ResponseField {
  if (field === 3) return filesField(loadRegistry().byName.get(requested), requested);
  if (field === 4) return filesField(loadRegistry().bySymbol.get(requested), requested);
  if (field === 7) {
    const content = new ProtobufWriter();
    for (const { services } of loadRegistry().byName.values()) {
      for (const name of services) content.message(1, new ProtobufWriter().string(1, name));
    }
    return { field: 6, content };
  }
  return errorField('UNIMPLEMENTED', 'not supported');
}

/** Handles one `ServerReflectionRequest`. Source: grpc/grpc, doc/server-reflection.md. @throws InvalidProtobuf */
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
  return writer.nonemptyString(1, host).bytes(2, request).message(response.field, response.content).finish();
}
