// @ts-check
/** The camera: opening, switching, closing, and one sentence for each way it can fail. */
import { MetaqdaError } from '../../../base/remote.js';
import { el, icon } from '../../kit/dom.js';
import { sourceError } from '../index.js';

const DENIED = 'The browser may not use the camera: allow it for this page beside the address bar, then try again.';
/** @type {Record<string, [code: string, sentence: string]>} */
const REASONS = {
  NotAllowedError: ['denied', DENIED], SecurityError: ['denied', DENIED],
  NotFoundError: ['missing', 'No camera was found: connect one, or add pictures from files.'],
  OverconstrainedError: ['missing', 'No suitable camera was found: connect another one, or add pictures from files.'],
  NotReadableError: ['busy', 'The camera is in use by another program: close that program and try again.'],
  AbortError: ['busy', 'The camera stopped while it was starting: try again.'],
};

/** The error to show for whatever getUserMedia or play() threw. @param {unknown} error */
export const cameraError = (error) => sourceError(error, REASONS, 'The camera could not be started: try again, or add pictures from files.');

/**
 * Throws where a page may never use a camera.
 *
 * @param {{isSecureContext: boolean, navigator: {mediaDevices?: MediaDevices}}} scope
 * @returns {MediaDevices}
 */
export function mediaDevices(scope) {
  if (!scope.isSecureContext) {
    throw new MetaqdaError('insecure', 'The camera needs a secure page: open this page by https or on localhost.');
  }
  const devices = scope.navigator.mediaDevices;
  if (!devices?.getUserMedia) {
    throw new MetaqdaError('missing', 'This browser offers no camera: add pictures from files instead.');
  }
  return devices;
}

/**
 * One open camera with its <video>. The video must be in the document before
 * start(): some iOS versions show nothing otherwise.
 */
export class Camera {
  /** @type {MediaStream|null} */
  #stream = null;
  /** @type {string[]} ids of all cameras, known once permission was given */
  #ids = [];
  #closed = false;
  /** On the way to the next camera. @type {Promise<void>|null} */
  #switching = null;

  /** @param {{onLost: (error: MetaqdaError) => void}} options */
  constructor({ onLost }) {
    this.onLost = onLost;
    this.video = el('video', { class: 'video', playsinline: true, muted: true, autoplay: true, 'aria-label': 'Camera' });
    this.video.muted = true; // the attribute alone does not mute a video made by script
    this.switchButton = el('button', {
      class: 'button square on-video', type: 'button', 'aria-label': 'Switch camera', hidden: true,
      onclick: () => { this.#switching ??= this.#next().finally(() => { this.#switching = null; }); },
    }, icon('switch'));
  }

  /**
   * Opens the camera and resolves when the first frame is there.
   *
   * @param {string} [deviceId] this camera and no other
   * @throws {MetaqdaError}
   */
  async start(deviceId) {
    try {
      const devices = mediaDevices(window);
      const which = deviceId ? { deviceId: { exact: deviceId } } : { facingMode: { ideal: 'environment' } };
      const stream = await devices.getUserMedia({
        video: { ...which, width: { ideal: 640 }, height: { ideal: 480 } }, audio: false,
      });
      await this.#show(stream);
      await this.#list(devices);
    } catch (error) {
      this.#stop();
      throw cameraError(error);
    }
  }

  /** The present frame; the caller closes it. */
  frame() {
    return createImageBitmap(this.video);
  }

  /** Whether there are frames. */
  get open() {
    return this.#stream !== null && this.video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA;
  }

  /** Stops the camera for good: its light goes out. */
  close() {
    this.#closed = true;
    this.#stop();
  }

  /** @param {MediaStream} stream */
  async #show(stream) {
    this.#stream = stream;
    // Closed while the permission prompt was open.
    if (this.#closed) throw new DOMException('closed', 'AbortError');
    const track = stream.getVideoTracks()[0];
    track?.addEventListener('ended', () => {
      if (this.#stream !== stream) return;
      this.#stop();
      this.onLost(new MetaqdaError('lost', 'The camera was disconnected: connect it and try again.'));
    });
    const facing = track?.getSettings().facingMode;
    this.video.classList.toggle('mirrored', facing === 'user');
    this.video.srcObject = stream;
    await this.video.play();
    await firstFrame(this.video);
  }

  /** @param {MediaDevices} devices */
  async #list(devices) {
    const all = await devices.enumerateDevices();
    this.#ids = all.filter((device) => device.kind === 'videoinput').map((device) => device.deviceId);
    this.switchButton.hidden = this.#ids.length < 2;
  }

  /** Goes on to the next camera. Phones need the old one closed first. */
  async #next() {
    const now = this.#stream?.getVideoTracks()[0]?.getSettings().deviceId ?? '';
    const next = this.#ids[(this.#ids.indexOf(now) + 1) % this.#ids.length];
    this.#stop();
    try {
      await this.start(next);
    } catch (error) {
      this.onLost(cameraError(error));
    }
  }

  #stop() {
    const stream = this.#stream;
    this.#stream = null;
    for (const track of stream?.getTracks() ?? []) track.stop();
    this.video.srcObject = null;
  }
}

/**
 * Resolves when the video holds a picture.
 *
 * @param {HTMLVideoElement} video
 * @returns {Promise<void>}
 */
function firstFrame(video) {
  if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && video.videoWidth > 0) return Promise.resolve();
  return new Promise((resolve) => {
    video.addEventListener('loadeddata', () => resolve(), { once: true });
  });
}
