// @ts-check
/** The camera: opening, switching, closing, and one sentence for each failure. */
import { mediaDevices, sourceError } from '../../../base/media.js';
import { MetaqdaError } from '../../../base/remote.js';
import { el, icon } from '../../kit/dom.js';

const INSTEAD = 'add pictures from files';

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
    /** Shown while the browser gives no frames, as when another program has the camera. */
    this.note = el('p', { class: 'on-video no-picture small', role: 'status', hidden: true }, 'The camera gives no picture: another program may be using it.');
    this.switchButton = el(
      'button',
      {
        class: 'button square on-video',
        type: 'button',
        'aria-label': 'Switch camera',
        hidden: true,
        onclick: () => {
          this.#switching ??= this.#next().finally(() => {
            this.#switching = null;
          });
        },
      },
      icon('switch'),
    );
  }

  /**
   * Opens the camera and resolves when the first frame is there.
   *
   * @param {string} [deviceId] this camera and no other
   * @throws {MetaqdaError}
   */
  async start(deviceId) {
    try {
      const devices = mediaDevices(window, 'camera', INSTEAD);
      const which = deviceId ? { deviceId: { exact: deviceId } } : { facingMode: { ideal: 'environment' } };
      const stream = await devices.getUserMedia({
        video: { ...which, width: { ideal: 640 }, height: { ideal: 480 } },
        audio: false,
      });
      await this.#show(stream);
      await this.#list(devices);
    } catch (error) {
      this.#stop();
      throw sourceError(error, 'camera', { instead: INSTEAD });
    }
  }

  /** The present frame. The caller closes it. */
  frame() {
    return createImageBitmap(this.video);
  }

  /** Whether there are frames. */
  get open() {
    return this.#stream !== null && this.note.hidden && this.video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA;
  }

  /** Stops the camera for good. Its light goes out. */
  close() {
    this.#closed = true;
    this.#stop();
  }

  /** @param {MediaStream} stream */
  async #show(stream) {
    this.#stream = stream;
    // It was closed while the permission prompt was open.
    if (this.#closed) throw new DOMException('closed', 'AbortError');
    const track = stream.getVideoTracks()[0];
    track?.addEventListener('ended', () => {
      if (this.#stream !== stream) return;
      this.#stop();
      this.onLost(new MetaqdaError('lost', 'The camera was disconnected: connect it and try again.'));
    });
    for (const type of ['mute', 'unmute'])
      track?.addEventListener(type, () => {
        this.note.hidden = type === 'unmute'; // the video keeps its last frame
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

  /** Switches to the next camera. Phones need the old one closed first. */
  async #next() {
    const now = this.#stream?.getVideoTracks()[0]?.getSettings().deviceId ?? '';
    const next = this.#ids[(this.#ids.indexOf(now) + 1) % this.#ids.length];
    this.#stop();
    try {
      await this.start(next);
    } catch (error) {
      this.onLost(sourceError(error, 'camera', { instead: INSTEAD }));
    }
  }

  #stop() {
    const stream = this.#stream;
    this.#stream = null;
    for (const track of stream?.getTracks() ?? []) track.stop();
    this.video.srcObject = null;
    this.note.hidden = true;
  }
}

/**
 * Resolves when the video has a picture.
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
