/** What the service said of itself at a moment, beside its memory. */
export type ServiceGauges = Readonly<{
  second: number;
  websockets: number;
  streams: number;
  queuedBytes: number;
}>;
