package org.rushlight.kotlin

import org.rushlight.Scalar
import org.rushlight.Tensor
import org.rushlight.Torch
import org.rushlight.nn.Module

// Arithmetic. Every operator returns a new tensor: `x += y` is `x = x + y` for a `var`, and `t[i] += y` writes into `t`. The
// methods that write in place have PyTorch's names (`add_`). There is no `plusAssign`: with it, both lines would be ambiguous.

/** `this + other`, element-wise. */
public operator fun Tensor.plus(other: Tensor): Tensor = add(other)

/** `this + other`, element-wise. */
public operator fun Tensor.plus(other: Number): Tensor = add(other)

/** `this + other`, element-wise. */
public operator fun Number.plus(other: Tensor): Tensor = other.add(this)

/** `this - other`, element-wise. */
public operator fun Tensor.minus(other: Tensor): Tensor = sub(other)

/** `this - other`, element-wise. */
public operator fun Tensor.minus(other: Number): Tensor = sub(other)

/** `this - other`, element-wise. */
public operator fun Number.minus(other: Tensor): Tensor = Torch.rsub(other, this)

/** `this * other`, element-wise; [matrixTimes] is the matrix product. */
public operator fun Tensor.times(other: Tensor): Tensor = mul(other)

/** `this * other`, element-wise. */
public operator fun Tensor.times(other: Number): Tensor = mul(other)

/** `this * other`, element-wise. */
public operator fun Number.times(other: Tensor): Tensor = other.mul(this)

/** `this / other`, element-wise; integers become floating-point numbers. */
public operator fun Tensor.div(other: Tensor): Tensor = div(other)

/** `this / other`, element-wise; integers become floating-point numbers. */
public operator fun Tensor.div(other: Number): Tensor = div(other)

/** `this / other`, element-wise; integers become floating-point numbers. */
public operator fun Number.div(other: Tensor): Tensor = other.reciprocal().mul(this)

/** The remainder of the division, with the sign of the divisor as in Python, element-wise. */
public operator fun Tensor.rem(other: Tensor): Tensor = remainder(other)

/** The remainder of the division, with the sign of the divisor as in Python, element-wise. */
public operator fun Tensor.rem(other: Number): Tensor = remainder(other)

/** The negative of each element. */
public operator fun Tensor.unaryMinus(): Tensor = neg()

/** The logical negation of each element. */
public operator fun Tensor.not(): Tensor = logicalNot()

// Infix functions: the names of PyTorch's functions are methods of Tensor, which Kotlin cannot call without a dot.

/** The matrix product, Python's `@`: [Tensor.matmul]. */
public infix fun Tensor.matrixTimes(other: Tensor): Tensor = matmul(other)

/** A boolean tensor: where the elements are equal. */
public infix fun Tensor.equalTo(other: Tensor): Tensor = eq(other)

/** A boolean tensor: where the elements are equal. */
public infix fun Tensor.equalTo(other: Number): Tensor = eq(other)

/** A boolean tensor: where the elements differ. */
public infix fun Tensor.notEqualTo(other: Tensor): Tensor = ne(other)

/** A boolean tensor: where the elements differ. */
public infix fun Tensor.notEqualTo(other: Number): Tensor = ne(other)

/** A boolean tensor: `this < other`. */
public infix fun Tensor.lessThan(other: Tensor): Tensor = lt(other)

/** A boolean tensor: `this < other`. */
public infix fun Tensor.lessThan(other: Number): Tensor = lt(other)

/** A boolean tensor: `this <= other`. */
public infix fun Tensor.atMost(other: Tensor): Tensor = le(other)

/** A boolean tensor: `this <= other`. */
public infix fun Tensor.atMost(other: Number): Tensor = le(other)

/** A boolean tensor: `this > other`. */
public infix fun Tensor.greaterThan(other: Tensor): Tensor = gt(other)

/** A boolean tensor: `this > other`. */
public infix fun Tensor.greaterThan(other: Number): Tensor = gt(other)

/** A boolean tensor: `this >= other`. */
public infix fun Tensor.atLeast(other: Tensor): Tensor = ge(other)

/** A boolean tensor: `this >= other`. */
public infix fun Tensor.atLeast(other: Number): Tensor = ge(other)

/** The bitwise conjunction of integers, or the logical one of booleans. */
public infix fun Tensor.and(other: Tensor): Tensor = bitwiseAnd(other)

/** The bitwise disjunction of integers, or the logical one of booleans. */
public infix fun Tensor.or(other: Tensor): Tensor = bitwiseOr(other)

/** The bitwise exclusive disjunction of integers, or the logical one of booleans. */
public infix fun Tensor.xor(other: Tensor): Tensor = bitwiseXor(other)

/** Integers shifted to the left by a number of bits. */
public infix fun Tensor.shl(bits: Number): Tensor = bitwiseLeftShift(bits)

/** Integers shifted to the right by a number of bits, which keeps the sign. */
public infix fun Tensor.shr(bits: Number): Tensor = bitwiseRightShift(bits)

/** The bitwise negation of integers, or the logical one of booleans. */
public fun Tensor.inv(): Tensor = bitwiseNot()

// Numbers.

/** The only element as a number. */
public fun Tensor.toDouble(): Double = item().toDouble()

/** The only element as an integer; fractions are cut off. */
public fun Tensor.toLong(): Long = item().toLong()

/** The only element as a boolean. */
public fun Tensor.toBoolean(): Boolean = (item() as Scalar).booleanValue()

/** `module(input)` is `module.forward(input)`. */
public operator fun Module.invoke(input: Tensor): Tensor = forward(input)
