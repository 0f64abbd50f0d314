export type AuditEntry = Readonly<{
  at: number;
  actor: string;
  action: string;
  keyId?: string | null;
  customerId?: string | null;
  address?: string | null;
  userAgent?: string | null;
  requestId?: string | null;
  /** Must not contain secrets. */
  detail: Readonly<Record<string, string | number | boolean | null>>;
}>;

export type RequestMetadata = Required<Pick<AuditEntry, 'address' | 'userAgent' | 'requestId'>>;
