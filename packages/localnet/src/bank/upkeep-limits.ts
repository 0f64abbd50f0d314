export type UpkeepLimits = Readonly<{
  segmentMaxBytes: number;
  segmentSlotsMax: number;
  /** Minimum history. More may remain, because only complete segments are deleted. */
  historySlotsMax: number;
}>;

export const defaultUpkeepLimits: UpkeepLimits = {
  segmentMaxBytes: 64 * 1024 * 1024,
  segmentSlotsMax: 20_000,
  historySlotsMax: 1_000_000,
};
