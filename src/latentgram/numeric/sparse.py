"""Compiled loops of spectral learning; all of them let go of the interpreter's lock.

Examples are rows of F numbers of features that are 1, the others 0 (lpcfg/statistics/features.py). A sparse matrix
is three arrays as in scipy's CSR: `pointers` [rows + 1] to where each row begins in `columns` and `values`.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def dense_cross(inside, outside, inside_weight, outside_weight):
    """Ω = mean of φ ψᵀ over examples `inside` [N, F] and `outside` [N, G], as an array."""
    cross = np.zeros((inside_weight.size, outside_weight.size))
    for n in range(inside.shape[0]):
        for f in range(inside.shape[1]):
            for g in range(outside.shape[1]):
                cross[inside[n, f], outside[n, g]] += 1.0
    for i in range(inside_weight.size):
        for j in range(outside_weight.size):
            cross[i, j] *= inside_weight[i] * outside_weight[j] / inside.shape[0]
    return cross


@njit(cache=True, nogil=True)
def sparse_cross(inside, outside, inside_weight, outside_weight):
    """The same as a sparse matrix; the columns of a row stand as the examples bring them. O(N·F·G)."""
    rows, features = inside_weight.size, inside.shape[1]
    begin = np.zeros(rows + 2, np.int64)  # the examples of feature i, listed from begin[i]
    for n in range(inside.shape[0]):
        for f in range(features):
            begin[inside[n, f] + 2] += 1
    for i in range(rows):
        begin[i + 2] += begin[i + 1]
    example = np.empty(inside.size, np.int32)
    for n in range(inside.shape[0]):
        for f in range(features):
            example[begin[inside[n, f] + 1]] = n
            begin[inside[n, f] + 1] += 1
    pointers, cell = np.zeros(rows + 1, np.int64), np.full(outside_weight.size, -1, np.int64)
    columns, values = np.empty(4 * inside.size, np.int32), np.empty(4 * inside.size)
    filled = 0
    for i in range(rows):
        most = filled + min((begin[i + 1] - begin[i]) * outside.shape[1], outside_weight.size)
        if most > columns.size:
            columns, values = _longer(columns, filled, 2 * most), _longer(values, filled, 2 * most)
        for e in range(begin[i], begin[i + 1]):
            for g in range(outside.shape[1]):
                j = outside[example[e], g]
                if cell[j] < pointers[i]:  # where this column stood in another row, if anywhere
                    cell[j], columns[filled], values[filled] = filled, j, 0.0
                    filled += 1
                values[cell[j]] += 1.0
        for p in range(pointers[i], filled):
            values[p] *= inside_weight[i] * outside_weight[columns[p]] / inside.shape[0]
        pointers[i + 1] = filled
    return pointers, columns[:filled], values[:filled]


@njit(cache=True, nogil=True)
def _longer(array, filled, size):
    """The filled part of an array in a longer one."""
    longer = np.empty(size, array.dtype)
    for i in range(filled):
        longer[i] = array[i]
    return longer


@njit(cache=True, nogil=True)
def project_rows(features, nodes, image, result):
    """For each of the nodes, the sum of the images [features, r] of its features, into its row of `result`."""
    for v in nodes:
        for h in range(image.shape[1]):
            result[v, h] = image[features[v, 0], h]
        for f in range(1, features.shape[1]):
            for h in range(image.shape[1]):
                result[v, h] += image[features[v, f], h]


@njit(cache=True, nogil=True)
def multiply(pointers, columns, values, vectors):
    """A · vectors [columns of A, r]."""
    result = np.zeros((pointers.size - 1, vectors.shape[1]))
    for i in range(pointers.size - 1):
        for p in range(pointers[i], pointers[i + 1]):
            for h in range(vectors.shape[1]):
                result[i, h] += values[p] * vectors[columns[p], h]
    return result


@njit(cache=True, nogil=True)
def _square(pointers, columns, values, vector, result):
    """AᵀA · vector, in one pass over A."""
    result[:] = 0.0
    for i in range(pointers.size - 1):
        total = 0.0
        for p in range(pointers[i], pointers[i + 1]):
            total += values[p] * vector[columns[p]]
        for p in range(pointers[i], pointers[i + 1]):
            result[columns[p]] += total * values[p]


@njit(cache=True, nogil=True)
def _away_from(basis, vector):
    """Take from a vector its parts along orthonormal rows; returns these."""
    parts = np.dot(basis, vector)
    vector -= np.dot(parts, basis)
    return parts


@njit(cache=True, nogil=True)
def lanczos_steps(pointers, columns, values, basis, projected, first):
    """Continue an orthonormal basis (rows) of a Krylov space of AᵀA behind row `first`, up to its last row.

    The upper half of `projected` gets basis · AᵀA · basisᵀ but for the last row, whose length before it was
    normalised is returned. In exact arithmetic a new vector has parts along the two before it only (and, after a
    restart, along all): these are taken off first, and then what rounding has left along any of them.
    """
    length, largest = 0.0, projected[0, 0]
    for j in range(first, basis.shape[0] - 1):
        vector = basis[j + 1]
        _square(pointers, columns, values, basis[j], vector)
        largest = max(largest, np.sqrt(np.dot(vector, vector)))
        near = 0 if j == first else j - 1
        projected[near : j + 1, j] += _away_from(basis[near : j + 1], vector)
        length, before = 0.0, np.inf
        while length < 0.5 * before and before > 1e-14 * largest:
            before = np.sqrt(np.dot(vector, vector))
            projected[: j + 1, j] += _away_from(basis[: j + 1], vector)
            length = np.sqrt(np.dot(vector, vector))
        if length <= 1e-14 * largest:
            # The space is closed: go on from any direction outside of it, which nothing couples to it.
            for i in range(vector.size):
                vector[i] = ((i + 1) * 2654435761 + j * 40503) % 4294967296 / 2147483648.0 - 1.0
            for _ in range(3):
                _away_from(basis[: j + 1], vector)
                vector /= np.sqrt(np.dot(vector, vector))
            length = 0.0
        else:
            vector /= length
    return length
