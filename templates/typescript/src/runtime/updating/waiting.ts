// When an update has to wait: after failures, and until the device is as the channel wants it.

import type { ChannelConditions } from './listed.js';
import type { DeviceState, UpdatePlatform } from './platform.js';
import type { UpdateOptions } from './states.js';

const FIRST_MS = 30_000;
const MOST_MS = 6 * 3_600_000;

/** How long to wait after so many failures, one after the other: random, so that not all devices come back at once. */
export function pauseMs(failures: number, random: () => number = Math.random): number {
  return Math.min(MOST_MS, FIRST_MS * 2 ** (failures - 1)) * (0.5 + random() / 2);
}

/** Why a download has to wait; empty when it need not. */
export async function reasonToWait(
  wanted: ChannelConditions,
  { conditions }: UpdateOptions,
  platform: UpdatePlatform,
): Promise<string> {
  const { wifi, charging, freeBytes } = wanted;
  if (wifi || charging) {
    const state: DeviceState = { ...(await platform.deviceState()), ...(await conditions?.()) };
    if (wifi && state.isUnmetered !== true) return `the channel asks for Wi-Fi${unknown(state.isUnmetered)}`;
    if (charging && state.isCharging !== true) return `the channel asks for a charger${unknown(state.isCharging)}`;
  }
  if (freeBytes === 0) return '';
  const found = await platform.freeBytes();
  if (found >= freeBytes) return '';
  return `the channel asks for ${String(freeBytes)} free bytes${found < 0 ? unknown(null) : `, there are ${String(found)}`}`;
}

function unknown(found: boolean | null): string {
  return found === null ? ', and nobody says whether there are: give the updater `conditions`' : '';
}
